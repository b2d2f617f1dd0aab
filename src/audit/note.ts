import { limits } from '../basics/limits.js'
import { fromBase64, type NoteVerifier } from './note-key.js'

/** A signed note in C2SP's format. The text ends in a newline. It proves nothing until the signature of a known key was checked. */
export type Note = { text: string; signatures: readonly NoteSignature[] }
export type NoteSignature = { name: string; id: Buffer; signature: Buffer }

const signatureLine = /^— ([^\s+]+) (\S+)$/u
// Control characters except the newline, and the replacement of malformed text.
const unfit = /[\u0000-\u0009\u000b-\u001f\ufffd]/

const readSignature = (line: string): NoteSignature | undefined => {
  const [, name = '', encoded = ''] = signatureLine.exec(line) ?? []
  const bytes = fromBase64(encoded)
  return name === '' || !bytes || bytes.length <= 4 ? undefined : { name, id: bytes.subarray(0, 4), signature: bytes.subarray(4) }
}

/**
 * Reads a signed note: text, an empty line, signatures. Undefined for other texts.
 *
 * @example readNote('example.com/log\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n— example.com/log …\n')
 */
export const readNote = (note: string): Note | undefined => {
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n') || unfit.test(note)) return undefined
  const lines = note.slice(end + 2, -1).split('\n')
  if (lines.length > limits.noteMaxSignatures) return undefined
  const signatures = lines.map(readSignature)
  const known = signatures.filter((signature) => signature !== undefined)
  return known.length === lines.length ? { text: note.slice(0, end + 1), signatures: known } : undefined
}

/** The result of checking a note with a key: `unsigned` if this key did not sign it. */
export const judge = ({ text, signatures }: Note, key: NoteVerifier): 'signed' | 'forged' | 'unsigned' => {
  const own = signatures.filter(({ name, id }) => name === key.name && id.equals(key.id))
  if (own.length === 0) return 'unsigned'
  return own.every(({ signature }) => key.verify(text, signature)) ? 'signed' : 'forged'
}
