/** Replaces a file in one step: who reads it sees the old content or the new one, also after a power failure. */
import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Writes beside the file, flushes, renames, flushes the folder. The folder is made if it is missing. `mode` as in chmod, whatever the umask. */
export async function replaceFile(path: string, content: string, mode: number): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  // A leading dot and a foreign ending: container runtimes read every *.conf, *.conflist and *.json of the folder.
  const draft = join(folder, `.${basename(path)}.${randomUUID()}.new`);
  try {
    await writeDraft(draft, content, mode);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await flushFolder(folder);
}

async function writeDraft(draft: string, content: string, mode: number): Promise<void> {
  const file = await open(draft, "wx", mode);
  try {
    await file.chmod(mode);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
