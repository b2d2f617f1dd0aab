import type { Hash, Tree } from './proof.js'

/** A signed head of the log: a checkpoint as a signed note. */
export type Head = Tree & {
  /** The name of the log. */
  log: string
  /** The signed text. */
  signed: string
  signatures: { name: string; bytes: Hash }[]
  /** The whole note, as received. */
  note: string
}

/** The bytes of a base64 text. @throws DOMException for a text that is not base64 */
export const bytesOf = (base64: string): Hash => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

/**
 * Reads a head.
 *
 * @example parseHead(await text('log/checkpoint'))
 * @throws Error when the text is not a head
 */
export const parseHead = (note: string): Head => {
  const text = note.endsWith('\n') ? note : `${note}\n`
  const gap = text.indexOf('\n\n')
  const signed = text.slice(0, gap + 1)
  const [log = '', size = '', root = ''] = signed.split('\n')
  if (gap < 0 || log === '' || !/^\d{1,15}$/.test(size)) throw new Error('This is no head of a log: it has no name, size and root')
  const signatures = [...text.slice(gap + 2).matchAll(/^— (\S+) (\S+)$/gm)].map(([, name = '', base64 = '']) => ({
    name,
    bytes: bytesOf(base64),
  }))
  return { log, size: Number(size), root: bytesOf(root), signed, signatures, note: text }
}

/** The heads in a file that contains several. @throws Error */
export const parseHeads = (file: string): Head[] =>
  file
    .replaceAll('\r\n', '\n')
    .split(/\n\n(?!— )/)
    .map((note) => note.trim())
    .filter((note) => note !== '')
    .map((note) => parseHead(note))

const keyIdBytes = 4
const ed25519 = 1

/**
 * Whether a key (`name+id+base64`) signed a head; undefined if this browser cannot check it.
 *
 * @example await isSigned(head, 'mindledger/…+033de0ae+AZ…')
 */
export const isSigned = async ({ signed, signatures }: Head, vkey: string): Promise<boolean | undefined> => {
  const [name = '', , ...rest] = vkey.trim().split('+')
  const key = bytesOf(rest.join('+'))
  if (key[0] !== ed25519) return undefined
  let known: CryptoKey
  try {
    known = await crypto.subtle.importKey('raw', key.slice(1), { name: 'Ed25519' }, false, ['verify'])
  } catch {
    return undefined
  }
  const text = new TextEncoder().encode(signed)
  for (const signature of signatures)
    if (signature.name === name && (await crypto.subtle.verify('Ed25519', known, signature.bytes.slice(keyIdBytes), text))) return true
  return false
}
