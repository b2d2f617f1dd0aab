import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { ConfigError } from '../setup/config.js'
import type { KeptHead } from '../log/verify/verify.js'
import { logOf, readTlogCheckpoint } from './tlog-checkpoint.js'
import { readNote, type Note } from './note.js'

/** A head that was kept elsewhere; `note` is the signed text, which the older JSON form lacks. */
export type ReadHead = { head: KeptHead; note?: Note }

const olderHead = z.object({ logId: z.string(), position: z.int().nonnegative(), chain: z.string().regex(/^[0-9a-f]{64}$/) })

const older = (line: string): ReadHead | undefined => {
  try {
    const head = olderHead.safeParse(JSON.parse(line)).data
    return head && { head }
  } catch {
    return undefined
  }
}

const signed = (text: string): ReadHead | undefined => {
  const note = readNote(text)
  const checkpoint = note && readTlogCheckpoint(note.text)
  return checkpoint && { note, head: { logId: logOf(checkpoint.origin), position: checkpoint.size, root: checkpoint.root } }
}

/** The notes of a text, separated by empty lines, and lines of the older JSON. Undefined when it contains anything else. */
export const headsIn = (text: string): ReadHead[] | undefined => {
  const heads: (ReadHead | undefined)[] = []
  let body: string | undefined
  for (const part of text.replaceAll('\r\n', '\n').split(/\n{2,}/)) {
    const block = part.replace(/^\n+|\n+$/g, '')
    if (block === '') continue
    if (body !== undefined) {
      heads.push(signed(`${body}\n\n${block}\n`))
      body = undefined
    } else if (block.startsWith('{')) heads.push(...block.split('\n').map(older))
    else body = block
  }
  const read = heads.filter((head) => head !== undefined)
  return body === undefined && read.length > 0 && read.length === heads.length ? read : undefined
}

/** The heads in a piece of a file of heads, which may begin or end in the middle of one. Anything else is skipped. */
export const headsAmong = (text: string): ReadHead[] => {
  const blocks = text
    .replaceAll('\r\n', '\n')
    .split(/\n{2,}/)
    .map((block) => block.replace(/^\n+|\n+$/g, ''))
  return blocks
    .flatMap((block, i) => [...block.split('\n').map(older), signed(`${block}\n\n${blocks[i + 1] ?? ''}\n`)])
    .filter((head) => head !== undefined)
}

/**
 * The heads in a file: the output of `mindledger head`, any number of times.
 * @throws ConfigError when the file is missing or contains anything else
 */
export const readHeads = (file: string): ReadHead[] => {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new ConfigError(`there is no file ${file}; "mindledger head > ${file}" writes one`)
  }
  const heads = headsIn(text)
  if (!heads) throw new ConfigError(`${file} does not hold heads alone; "mindledger head" prints one`)
  return heads
}
