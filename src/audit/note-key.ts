import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { sha256 } from '../../events/stored/chain.js'

/** The signature type of C2SP's signed notes that this service writes and reads: Ed25519. */
const ed25519 = 1

/** The bytes of a seed, of a public key and of a signature. */
export const seedBytes = 32
const publicBytes = 32
const signatureBytes = 64

/** The prefix of the raw bytes in the usual encodings of Ed25519 keys (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex')

/** Decodes base64 in its one regular form; undefined for any other text. */
export const fromBase64 = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

/** Whether a key may have this name: not empty, without spaces and plus signs. */
const isKeyName = (name: string): boolean => /^[^\s+]+$/u.test(name)

/** Key ID = SHA-256(key name ‖ 0x0A ‖ signature type ‖ public key)[:4]. */
const keyIdOf = (name: string, typed: Uint8Array): Buffer => sha256(Buffer.concat([Buffer.from(`${name}\n`), typed])).subarray(0, 4)

/** Checks signatures of one key. */
export type NoteVerifier = {
  name: string
  id: Buffer
  /** The key as a text to share: `name+id+base64`. */
  vkey: string
  verify: (text: string, signature: Uint8Array) => boolean
}

const verifierOf = (name: string, publicKey: KeyObject, bare: Uint8Array): NoteVerifier => {
  const typed = Buffer.concat([Buffer.of(ed25519), bare])
  const id = keyIdOf(name, typed)
  return {
    name,
    id,
    vkey: `${name}+${id.toString('hex')}+${typed.toString('base64')}`,
    verify: (text, signature) => signature.length === signatureBytes && verify(null, Buffer.from(text), publicKey, signature),
  }
}

/**
 * Reads a verifier key in C2SP's signed-note format. Undefined for other texts, and for keys other than Ed25519.
 *
 * @example readVerifierKey('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW')?.name // 'PeterNeumann'
 */
export const readVerifierKey = (vkey: string): NoteVerifier | undefined => {
  const [, name = '', id = '', encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/u.exec(vkey) ?? []
  const typed = fromBase64(encoded)
  if (!isKeyName(name) || typed?.length !== 1 + publicBytes || typed[0] !== ed25519) return undefined
  if (keyIdOf(name, typed).toString('hex') !== id) return undefined
  const bare = typed.subarray(1)
  return verifierOf(name, createPublicKey({ key: Buffer.concat([spkiPrefix, bare]), format: 'der', type: 'spki' }), bare)
}

/** A signer of notes, with the key that checks its signatures. */
export type NoteSigner = NoteVerifier & {
  /** Makes a note of a text: adds an empty line and this key's signature. The text ends in a newline. */
  sign: (text: string) => string
}

/** The signer with this name and this seed of 32 bytes. @throws TypeError when the name is not allowed */
export const noteSigner = (name: string, seed: Uint8Array): NoteSigner => {
  if (!isKeyName(name)) throw new TypeError(`${name} cannot be the name of a key`)
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey)
  const bare = publicKey.export({ format: 'der', type: 'spki' }).subarray(-publicBytes)
  const verifier = verifierOf(name, publicKey, bare)
  return {
    ...verifier,
    sign: (text) => {
      const signature = Buffer.concat([verifier.id, sign(null, Buffer.from(text), privateKey)])
      return `${text}\n— ${name} ${signature.toString('base64')}\n`
    },
  }
}
