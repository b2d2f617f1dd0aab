import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import { fieldsOf, isCount } from './lines.js'
import { fromBase64, sha256 } from './tree.js'

export type Key = { name: string; id: Buffer; key: KeyObject }

/** Reads a verifier key, `name+id+base64`. The id comes from the name and the key, so that it reveals a typo in either. */
export const readKey = (text: string): Key | undefined => {
  const [, name = '', id = '', encoded] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text.trim()) ?? []
  const bytes = fromBase64(encoded, 33)
  if (bytes?.[0] !== 1) return undefined // 1 stands for Ed25519
  if (sha256(name, '\n', bytes).subarray(0, 4).toString('hex') !== id) return undefined
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: bytes.subarray(1).toString('base64url') }, format: 'jwk' })
  return { name, id: Buffer.from(id, 'hex'), key }
}

/** The keys in a text, one in each line. Undefined when it contains anything else, or none. */
export const readKeys = (text: string): Key[] | undefined => {
  const lines = text.trim().split(/\s*\n\s*/)
  const keys = lines.flatMap((line) => readKey(line) ?? [])
  return keys.length === lines.length ? keys : undefined
}

/** Keys for a message, each with its name and its id. */
export const shownKeys = (keys: readonly Key[]): string => keys.map(({ name, id }) => `${name}+${id.toString('hex')}`).join(' or ')

/** A head: the number of events, and their root. The older form has the hash chain in place of root and signature. */
export type Head = { origin: string; size: number; root?: Buffer; chain?: string; body?: string; signatures?: string[]; agrees?: boolean }

const readNote = (body: string, signatures: string[]): Head | undefined => {
  const [origin = '', size = '', encoded] = body.split('\n')
  const root = fromBase64(encoded, 32)
  return root && /^(0|[1-9]\d{0,15})$/.test(size) ? { origin, size: Number(size), root, body, signatures } : undefined
}

/** Whether one of the signatures under a head was made with this key. Others, such as those of witnesses, are skipped. */
const isSigned = ({ origin, body, signatures }: Head, { name, id, key }: Key): boolean =>
  origin === name &&
  body !== undefined &&
  (signatures ?? []).some((line) => {
    const [dash, by, encoded] = line.split(' ')
    const bytes = fromBase64(encoded, 4 + 64)
    return dash === '—' && by === name && bytes?.subarray(0, 4).equals(id) && verify(null, Buffer.from(body), key, bytes.subarray(4))
  })

/** The first of these keys that signed a head. */
export const signerOf = (head: Head, keys: readonly Key[]): Key | undefined => keys.find((key) => isSigned(head, key))

/** The heads in a text: notes separated by empty lines, or lines of the older JSON. Undefined when it contains anything else. */
export const readHeads = (text: string): Head[] | undefined => {
  const heads: (Head | undefined)[] = []
  let body = ''
  const lines = text.replace(/\r/g, '').split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (body === '' && line.startsWith('{')) heads.push(readOldHead(line))
    else if (line !== '') body += `${line}\n`
    else if (body !== '') {
      const signatures: string[] = []
      while (lines[at + 1]?.startsWith('— ')) signatures.push(lines[++at] ?? '')
      heads.push(readNote(body, signatures))
      body = ''
    }
  }
  const found = heads.filter((head) => head !== undefined)
  return body === '' && found.length > 0 && found.length === heads.length ? found : undefined
}

const readOldHead = (line: string): Head | undefined => {
  const { logId, position, chain } = fieldsOf(line)
  if (typeof logId !== 'string' || !isCount(position) || typeof chain !== 'string') return undefined
  return { origin: originOf(logId), size: position, chain }
}

/** The name under which a log signs: origin of its heads and name of its key. */
export const originOf = (log: string): string => `mindledger/${log}`
