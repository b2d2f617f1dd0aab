import { describe, expect, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { sha256Hex } from '../../../events/stored/chain.js'
import { Vault } from '../../../src/vault/vault.js'
import { testKey } from '../../support/log/log.js'

const vault = new Vault(testKey)
const plain = Buffer.from('sk-1')

describe('vault', () => {
  test('what is sealed opens again, and its name is the hash of the ciphertext', () => {
    const sealed = vault.seal(plain)
    expect(vault.open(sealed)).toEqual(plain)
    expect(sealed.hash).toBe(sha256Hex(sealed.body))
    expect(vault.open(vault.seal(Buffer.alloc(0)))).toEqual(Buffer.alloc(0))
  })

  test('the same plain text never seals to the same bytes', () => {
    const [a, b] = [vault.seal(plain), vault.seal(plain)]
    expect(a.hash).not.toBe(b.hash)
    expect(a.wrapped.equals(b.wrapped)).toBe(false)
  })

  test('without its wrapped key a payload is gone for ever', () =>
    expect(vault.open({ ...vault.seal(plain), wrapped: null })).toBeUndefined())

  test('another master key opens nothing, and has another name that does not tell the key', () => {
    const other = new Vault(randomBytes(32))
    expect(other.open(vault.seal(plain))).toBeUndefined()
    expect(other.keyId).not.toBe(vault.keyId)
    expect(testKey.toString('hex')).not.toContain(vault.keyId)
    expect(new Vault(testKey).keyId).toBe(vault.keyId)
  })

  test.each(['body', 'wrapped'] as const)('no byte of %s can be changed unnoticed', (part) => {
    const sealed = vault.seal(plain)
    for (let i = 0; i < sealed[part].length; i++) {
      const changed = Buffer.from(sealed[part])
      changed[i] = changed[i]! ^ 1
      expect(vault.open({ ...sealed, [part]: changed })).toBeUndefined()
    }
  })

  test("one payload's key does not open under another's name", () => {
    const [a, b] = [vault.seal(plain), vault.seal(plain)]
    expect(vault.open({ ...a, wrapped: b.wrapped })).toBeUndefined()
  })

  test('a master key has 32 bytes', () => expect(() => new Vault(randomBytes(31))).toThrow(RangeError))
})
