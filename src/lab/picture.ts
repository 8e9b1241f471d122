/** The topology as a picture in the terminal: a box for each segment, its leader starred, and the tunnels between leaders. Pure. */

export interface PictureNode {
  readonly name: string;
  readonly podCIDR?: string | undefined;
  /** Tunnel address; only leaders have one. */
  readonly tunnelIP?: string | undefined;
  /** As others reach it, e.g. `203.0.113.11:51820`. */
  readonly endpoint?: string | undefined;
}

export interface PictureSegment {
  readonly name: string;
  readonly nodes: readonly PictureNode[];
}

export interface PicturePeer {
  readonly name: string;
  readonly allowedIPs: readonly string[];
}

export interface Picture {
  /** Pool of tunnel addresses. */
  readonly subnet: string;
  readonly segments: readonly PictureSegment[];
  readonly peers: readonly PicturePeer[];
}

/** Blank columns between boxes. */
const GAP = 2;

/**
 * Draws the picture.
 * @param width columns of the terminal: boxes stand side by side as long as they fit. @default 100
 */
export function drawPicture(picture: Picture, width = 100): string {
  const boxes = picture.segments.map((segment) => box(segment.name, segment.nodes.flatMap(nodeLines)));
  const rows = packRows(boxes, width);
  const mesh = ` WireGuard, ${picture.subnet}: every ★ has a tunnel to every other ★ `;
  const bus = (length: number): string => `══${mesh}`.padEnd(Math.max(length, mesh.length + 4), "═");
  const drawn = rows.map((row, index) => drawRow(row, index === rows.length - 1));
  const lines = drawn.flatMap((row) => row.lines);
  const longest = Math.max(0, ...lines.map((line) => line.length));
  return [...lines, bus(longest), ...peerLines(picture.peers)].map((line) => line.trimEnd()).join("\n");
}

function nodeLines(node: PictureNode): string[] {
  const star = node.tunnelIP === undefined ? " " : "★";
  const details = [
    node.podCIDR === undefined ? undefined : `pods ${node.podCIDR}`,
    node.tunnelIP === undefined ? undefined : `tunnel ${node.tunnelIP}`,
    node.tunnelIP === undefined || node.endpoint === undefined ? undefined : `at ${node.endpoint}`,
  ];
  return [
    `${star} ${node.name}`,
    ...details.filter((detail) => detail !== undefined).map((detail) => `    ${detail}`),
  ];
}

function box(title: string, content: readonly string[]): string[] {
  const inner = Math.max(title.length + 2, ...content.map((line) => line.length)) + 1;
  return [
    `┌─ ${title} ${"─".repeat(inner - title.length - 2)}┐`,
    ...content.map((line) => `│ ${line.padEnd(inner)}│`),
    `└${"─".repeat(inner + 1)}┘`,
  ];
}

function packRows(boxes: readonly string[][], width: number): string[][][] {
  const rows: string[][][] = [];
  let used = 0;
  for (const lines of boxes) {
    const wide = (lines[0] ?? "").length;
    const row = rows.at(-1);
    if (row === undefined || used + GAP + wide > width) {
      rows.push([lines]);
      used = wide;
    } else {
      row.push(lines);
      used += GAP + wide;
    }
  }
  return rows;
}

/** Boxes of a row, bottoms level with the tallest; the last row is tied to the bus below it. */
function drawRow(row: readonly string[][], tied: boolean): { lines: string[] } {
  const tallest = Math.max(0, ...row.map((lines) => lines.length));
  const stretched = row.map((lines) => stretch(lines, tallest));
  const lines = Array.from({ length: tallest }, (_, index) =>
    stretched.map((box) => box[index] ?? "").join(" ".repeat(GAP)),
  );
  if (!tied) return { lines };
  const ties = stretched.map((box) => "    ║".padEnd((box[0] ?? "").length)).join(" ".repeat(GAP));
  return { lines: [...lines, ties] };
}

function stretch(lines: readonly string[], height: number): string[] {
  const blank = `│${" ".repeat((lines[0] ?? "").length - 2)}│`;
  const filler = Array.from({ length: height - lines.length }, () => blank);
  return [...lines.slice(0, -1), ...filler, ...lines.slice(-1)];
}

function peerLines(peers: readonly PicturePeer[]): string[] {
  return peers.map(
    (peer) => `    ┊ ${peer.name} (external peer, ${peer.allowedIPs.join(", ")}): a tunnel to every ★`,
  );
}
