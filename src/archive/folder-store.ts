import { mkdirSync } from 'node:fs'
import { lstat, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode } from '../basics/errors.js'
import { moveFile, sync } from '../basics/disk.js'
import type { ArchiveStore, MadeFile, NamedFile } from './store.js'
import { archiveFolders } from './tables.js'

/** The folder for files before they get their names. Files in it at the start were left by an export that was killed. */
const workFolder = '.part'

/**
 * An export in a folder.
 *
 * @example const store = new FolderStore('/mnt/history')
 */
export class FolderStore implements ArchiveStore {
  #isBegun = false

  constructor(readonly place: string) {}

  async list(folder: string): Promise<ReadonlyMap<string, number>> {
    const directory = join(this.place, folder)
    const found = new Map<string, number>()
    const names = await readdir(directory).catch((error: unknown) => {
      if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return []
      throw error
    })
    for (const name of names) {
      if (name === workFolder) continue
      const entry = await lstat(join(directory, name)).catch(() => undefined)
      // Something other than a file gets the size -1, which no file has.
      if (entry) found.set(name, entry.isFile() ? entry.size : -1)
    }
    return found
  }

  async readText(name: string, maxBytes: number): Promise<string | undefined> {
    const path = join(this.place, name)
    const found = await lstat(path).catch(() => undefined)
    if (!found) return undefined
    if (!found.isFile() || found.size > maxBytes) throw new Error(`${path} is not a file of at most ${maxBytes} bytes`)
    return readFile(path, 'utf8')
  }

  disk(): string {
    mkdirSync(this.place, { recursive: true })
    return this.place
  }

  async work(): Promise<string> {
    this.#isBegun = true
    await rm(join(this.place, workFolder), { recursive: true, force: true })
    for (const folder of [workFolder, ...archiveFolders]) await mkdir(join(this.place, folder), { recursive: true })
    return mkdtemp(join(this.place, workFolder, 'range-'))
  }

  async put(file: MadeFile, name: string): Promise<void> {
    const path = join(this.place, name)
    await moveFile(file.path, path)
    await sync(dirname(path))
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.place, name), { force: true })
  }

  async withFiles<T>(files: readonly NamedFile[], use: (paths: readonly (string | undefined)[]) => Promise<T>): Promise<T> {
    const paths = files.map(({ name }) => join(this.place, name))
    return use(await Promise.all(paths.map(async (path) => (await lstat(path).catch(() => undefined)) && path)))
  }

  async close(): Promise<void> {
    if (this.#isBegun) await rm(join(this.place, workFolder), { recursive: true, force: true })
  }
}
