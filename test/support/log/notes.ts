import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'

/** Signs heads like a log does; written independently for tests. */
export type TestSigner = { key: string; checkpoint: (size: number, root: Buffer) => string }

/** The signer of a log, with a key whose seed is 32 times this byte. */
export const testSigner = (logId: string, byte = 7): TestSigner => {
  const name = `mindledger/${logId}`
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, byte)])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const typed = Buffer.concat([Buffer.of(1), createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)])
  const id = createHash('sha256').update(`${name}\n`).update(typed).digest().subarray(0, 4)
  return {
    key: `${name}+${id.toString('hex')}+${typed.toString('base64')}`,
    checkpoint: (size, root) => {
      const text = `${name}\n${size}\n${root.toString('base64')}\n`
      return `${text}\n— ${name} ${Buffer.concat([id, sign(null, Buffer.from(text), privateKey)]).toString('base64')}\n`
    },
  }
}
