/**
 * kube: a lean client of one Kubernetes API server.
 *
 * Promises: credentials are read anew for each request, so rotated tokens and certificates just work; they are in no error and no
 * printed object. Every wait is bounded and takes an AbortSignal. A reflector never reports anything as removed before a complete list
 * said so, notices what was deleted while nobody watched, and goes on by itself after whatever failure, with full jitter. What is kept of
 * an object is what its projection returns. Every error says what was tried, why it failed and what to do. Objects are as the server
 * sent them: this room decides nothing about the mesh.
 */
export * from "./client.ts";
export * from "./clock.ts";
export * from "./cluster-config.ts";
export { loadClusterConfig } from "./config.ts";
export * from "./crds.ts";
export * from "./errors.ts";
export { fileReason } from "./file-reason.ts";
export type { Change } from "./kept.ts";
export * from "./objects.ts";
export { projectNode } from "./project-node.ts";
export { projectPeer } from "./project-peer.ts";
export * from "./reflector.ts";
export * from "./reflector-options.ts";
export * from "./resources.ts";
