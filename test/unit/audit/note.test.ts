import { describe, expect, test } from '@jest/globals'
import { checkpointText, originOf, readTlogCheckpoint } from '../../../src/audit/tlog-checkpoint.js'
import { headsIn } from '../../../src/audit/kept-heads.js'
import { noteSigner, readVerifierKey } from '../../../src/audit/note-key.js'
import { judge, readNote } from '../../../src/audit/note.js'
import { tlogProof } from '../../../src/audit/tlog-proof.js'

const keyOf = (vkey: string) => readVerifierKey(vkey)!
const changed = (text: string, at: number): string => text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1)

/** The example and the tests of Go's `sumdb/note`, where signed notes come from. */
describe('the notes of Go’s checksum database', () => {
  const peter = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
  const peterSeed = Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1)
  const enoch = 'EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop'
  const text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
  const peterLine = '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n'
  const enochLine = '— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n'

  test('are signed to the same bytes', () => {
    expect(noteSigner('PeterNeumann', peterSeed).vkey).toBe(peter)
    expect(noteSigner('PeterNeumann', peterSeed).sign(text)).toBe(`${text}\n${peterLine}`)
    // The tests there make the second key from a source of nothing but zeros.
    expect(noteSigner('EnochRoot', Buffer.alloc(32)).vkey).toBe(enoch)
    expect(noteSigner('EnochRoot', Buffer.alloc(32)).sign(text)).toBe(`${text}\n${enochLine}`)
  })

  test('are read, and each signature is its key’s', () => {
    const note = readNote(`${text}\n${peterLine}${enochLine}`)!
    expect(note.text).toBe(text)
    expect(note.signatures.map(({ name, id }) => `${name} ${id.toString('hex')}`)).toEqual(['PeterNeumann c74f20a3', 'EnochRoot af0cfe78'])
    expect(judge(note, keyOf(peter))).toBe('signed')
    expect(judge(note, keyOf(enoch))).toBe('signed')
    expect(judge(readNote(`${text}\n${enochLine}`)!, keyOf(peter))).toBe('unsigned')
    expect(judge(readNote(`${changed(text, 3)}\n${peterLine}`)!, keyOf(peter))).toBe('forged')
  })

  test('and the example of the specification verifies', () => {
    const foo = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'
    const note = `This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n`
    expect(judge(readNote(note)!, keyOf(foo))).toBe('signed')
    expect(keyOf(foo).vkey).toBe(foo)
  })

  test.each([
    ['no empty line before the signatures', `${text}${peterLine}`],
    ['no signature', `${text}\n`],
    ['no newline at its end', `${text}\n${peterLine.slice(0, -1)}`],
    ['a line that is no signature', `${text}\n${peterLine}and more\n`],
    ['a hyphen for the dash', `${text}\n${peterLine.replace('—', '-')}`],
    ['a name with a plus sign', `${text}\n${peterLine.replace('PeterNeumann', 'Peter+Neumann')}`],
    ['base64 that is written otherwise', `${text}\n${peterLine.replace('nAM=', 'nAN=')}`],
    ['a signature of four bytes', `${text}\n— PeterNeumann x08gow==\n`],
    ['a control character', `If\tyou\n\n${peterLine}`],
    ['more signatures than its limit', `${text}\n${peterLine.repeat(101)}`],
  ])('a text with %s is no note', (_, note) => expect(readNote(note)).toBeUndefined())

  test.each([
    ['another name', peter.replace('Peter', 'Pieter')],
    ['another id', peter.replace('c74f', 'c74e')],
    ['another key', peter.replace('ARpc', 'ARpd')],
    ['another kind of key', peter.replace('+ARpc', '+AhpC')],
    ['a space in its name', peter.replace('PeterNeumann', 'Peter Neumann')],
    ['an end that is missing', peter.slice(0, -4)],
    ['nothing', ''],
  ])('a text with %s is no key', (_, vkey) => expect(readVerifierKey(vkey)).toBeUndefined())
})

describe('checkpoints', () => {
  const root = Buffer.from('CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=', 'base64')
  const example = `example.com/behind-the-sofa\n20852163\n${root.toString('base64')}\n`

  test('are written and read as the specification has them', () => {
    expect(readTlogCheckpoint(example)).toEqual({ origin: 'example.com/behind-the-sofa', size: 20_852_163, root })
    expect(checkpointText({ origin: 'example.com/behind-the-sofa', size: 20_852_163, root })).toBe(example)
    expect(readTlogCheckpoint(`${example}an extension\n`)?.size).toBe(20_852_163)
  })

  test.each([
    ['an empty origin', example.replace('example.com/behind-the-sofa', '')],
    ['a zero before its size', example.replace('2085', '02085')],
    ['a sign before its size', example.replace('2085', '+2085')],
    ['a size beyond any log', example.replace('20852163', '9999999999999999')],
    ['a root cut short', example.replace('CsUY', '')],
    ['no end', example.slice(0, -1)],
    ['an empty line', `${example}\n`],
  ])('a text with %s is none', (_, text) => expect(readTlogCheckpoint(text)).toBeUndefined())

  test('a file holds any number of heads, of both kinds', () => {
    const signer = noteSigner(originOf('a-log'), Buffer.alloc(32, 7))
    const [one, two] = [1, 2].map((size) => signer.sign(checkpointText({ origin: originOf('a-log'), size, root })))
    const older = { logId: 'a-log', position: 3, chain: 'ab'.repeat(32) }
    const heads = headsIn(`${one}\n${two}\n${JSON.stringify(older)}\n`)!
    expect(heads.map(({ head }) => head)).toEqual([{ logId: 'a-log', position: 1, root }, { logId: 'a-log', position: 2, root }, older])
    expect(heads.slice(0, 2).map(({ note }) => judge(note!, signer))).toEqual(['signed', 'signed'])
    expect(headsIn(`${one}\n\n\n${two}`.replaceAll('\n', '\r\n'))).toHaveLength(2)
    for (const bad of ['', '\n', 'text\n', `${one}\ntext\n`, `${one}${two}`, '{"logId":"a"}\n', `${one}\n{}`])
      expect(headsIn(bad)).toBeUndefined()
  })
})

test('an inclusion proof as a text is that of the specification', () => {
  const hashes = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const [one, two] = hashes.map((hash) => hash.toString('base64'))
  expect(tlogProof(5, hashes, 'a checkpoint\n')).toBe(`c2sp.org/tlog-proof@v1\nindex 5\n${one}\n${two}\n\na checkpoint\n`)
  expect(tlogProof(0, [], 'a checkpoint\n')).toBe('c2sp.org/tlog-proof@v1\nindex 0\n\na checkpoint\n')
})
