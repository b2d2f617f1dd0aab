import { lstatSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { entriesOf } from '../directories.js'

/** Which of many byte strings (of four bytes or more) occur in these bytes, found in one pass. */
export const tracesIn = (bytes: Buffer, needles: readonly Uint8Array[]): Set<number> => {
  const byBeginning = new Map<number, number[]>()
  for (const [i, needle] of needles.entries()) {
    const beginning = Buffer.from(needle).readUInt32LE(0)
    byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), i])
  }
  const found = new Set<number>()
  for (let at = 0; at + 4 <= bytes.length; at++)
    for (const i of byBeginning.get(bytes.readUInt32LE(at)) ?? []) {
      const needle = needles[i]
      if (needle && bytes.subarray(at, at + needle.length).equals(needle)) found.add(i)
    }
  return found
}

/** All files in a directory and below it, or a single file. */
export const filesUnder = (path: string): string[] => {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    return entriesOf(path).flatMap(({ name }) => filesUnder(join(path, name)))
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? [path] : []
}

/** The bytes of a file; none if another process has removed it meanwhile, as DuckDB does with its write-ahead log. */
export const bytesOf = (file: string): Buffer => {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return Buffer.alloc(0)
  }
}

/** The byte strings that occur in any of these files, with the files. */
export const tracesInFiles = (files: readonly string[], needles: readonly Uint8Array[]): { file: string; needles: number[] }[] =>
  files.flatMap((file) => {
    const found = tracesIn(bytesOf(file), needles)
    return found.size > 0 ? [{ file, needles: [...found] }] : []
  })
