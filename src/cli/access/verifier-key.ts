import { existsSync, readFileSync } from 'node:fs'
import type { ReadHead } from '../../audit/kept-heads.js'
import { readVerifierKey, type NoteVerifier } from '../../audit/note-key.js'
import { judge } from '../../audit/note.js'
import { ConfigError } from '../../setup/config.js'

/** The key of --vkey: the value itself, or the content of a file. @throws ConfigError when it is not a key */
export const readVkey = (vkey: string): NoteVerifier => {
  const key = readVerifierKey(existsSync(vkey) ? readFileSync(vkey, 'utf8').trim() : vkey)
  if (!key) throw new ConfigError('--vkey is not a verifier key (name+id+base64), or a file with one; "mindledger head --key" prints it')
  return key
}

/** The fault of a head's signature; undefined if it is right, or if there is no signature or no key to check it. */
export const headFault = ({ note }: ReadHead, keys: readonly NoteVerifier[]): string | undefined => {
  if (!note || keys.length === 0) return undefined
  const judgements = keys.map((key) => judge(note, key))
  if (judgements.includes('forged')) return 'its signature does not match its text: somebody changed the head'
  return judgements.includes('signed') ? undefined : `it is not signed by ${keys.map(({ vkey }) => vkey).join(' or ')}`
}
