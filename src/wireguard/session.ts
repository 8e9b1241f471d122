/** How long a session lives: one rule, for who reads handshakes and for who writes endpoints. */

/** WireGuard's Reject-After-Time: no packet of a session is accepted later than this after its handshake (white paper §6.1). */
export const SESSION_SECONDS = 180;

/**
 * Whether a session can live whose last handshake was at `latestHandshake`, 0 for none. Both in Unix seconds, of the clock that the
 * device tells its handshakes in. A handshake further ahead than a session lasts tells of a clock that was set back, not of a session.
 */
export function sessionLives(latestHandshake: number, now: number): boolean {
  return latestHandshake > 0 && Math.abs(now - latestHandshake) < SESSION_SECONDS;
}
