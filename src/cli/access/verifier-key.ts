import { existsSync, readFileSync } from 'node:fs'
import type { ReadHead } from '../../audit/kept-heads.js'
import { readVerifierKey, type NoteVerifier } from '../../audit/note-key.js'
import { judge } from '../../audit/note.js'
import { ConfigError } from '../../setup/config.js'

/** The keys of --vkey: the value itself, or the content of a file, one in each line. @throws ConfigError when there is anything else */
export const readVkeys = (vkey: string): NoteVerifier[] => {
  const text = existsSync(vkey) ? readFileSync(vkey, 'utf8') : vkey
  const lines = text.trim().split(/\s*\n\s*/)
  const keys = lines.flatMap((line) => readVerifierKey(line) ?? [])
  if (keys.length === lines.length) return keys
  throw new ConfigError(
    '--vkey is not a verifier key (name+id+base64), or a file with such keys, one a line; "mindledger head --key" prints it',
  )
}

/** The fault of a head's signature; undefined if it is right, or if there is no signature or no key to check it. */
export const headFault = ({ note }: ReadHead, keys: readonly NoteVerifier[]): string | undefined => {
  if (!note || keys.length === 0) return undefined
  const judgements = keys.map((key) => judge(note, key))
  if (judgements.includes('forged')) return 'its signature does not match its text: somebody changed the head'
  return judgements.includes('signed') ? undefined : `it is not signed by ${keys.map(({ vkey }) => vkey).join(' or ')}`
}
