/** Room: the program for auditors, which shares no code with what it checks. It imports no other room. */

/*
 * The offline verifier of Mindledger's exports. It is one file, needs nothing but Node.js (20 or later), opens no connection and writes
 * nothing. It shares no code with the service that it checks, on purpose: read it, then run it.
 *
 *   node verifier.mjs export.jsonl [--vkey <key or file>] [--head <file>]...
 *   node verifier.mjs proof.txt --event event.json [--vkey <key or file>] [--head <file>]...
 *
 * The file may have several keys, one a line, because a log gets another key when its operator loses one. One of them must have signed each
 * head.
 *
 * Exit status: 0 the export holds and agrees with every given head, 1 it does not, 2 the check was not possible.
 *
 * The form of an export: lines, each ended by one newline. The first is a header: the log's id, the project (null for all), the number of
 * events `size`, a signed head of that size (`checkpoint`), and the public key (`key`). Then, in order of position from 1, each line is the
 * text of one event, exactly the bytes that were hashed, or stands for left-out events of other projects:
 * {"omitted":{"from":7,"to":9,"subtrees":["<base64>",...]}}. A list of leaf hashes, one after the other, precedes consecutive events:
 * {"leaves":{"from":1,"to":6,"hashes":"<base64>"}}. Exports of format 1 have no such lists.
 *
 * The proof: the events are the leaves of a Merkle tree as RFC 9162 defines it, leaf = SHA-256(0x00 | text),   node = SHA-256(0x01 | left |
 * right), and the head is a signature (Ed25519, a C2SP signed note) over the tree's size and root. If the leaves here add up to that root,
 * nobody without the key has changed, added, moved or left out one byte of one event. But the holder of the key could sign another history:
 * only a head that you kept elsewhere (--head) rules that out. So keep a head at a place that the log's operator cannot change.
 *
 * The purpose of the lists: if the events do not add up to the root, the listed hashes may do so. Then these hashes are the signed ones,
 * and each line that differs from its hash was changed. A list that does not add up either identifies no line.
 */
import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { checkFile } from './export-file.js'
import { readHeads, readKeys, shownKeys, signerOf, type Head, type Key } from './heads.js'
import { MalformedInputError } from './lines.js'
import { checkProof, readProof } from './inclusion-proof.js'

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** The keys of --vkey: the value itself, or the content of a file. */
const keysOf = (vkey: string): Key[] => {
  const keys = readKeys(existsSync(vkey) ? readFileSync(vkey, 'utf8') : vkey)
  if (!keys) throw new Error(`--vkey takes a verifier key (name+id+base64) or a file with such keys, one a line: ${vkey}`)
  return keys
}

const readArguments = (args: string[]) => {
  const options = { head: { type: 'string', multiple: true }, vkey: { type: 'string' }, event: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const [file] = positionals
  if (file === undefined || positionals.length > 1)
    throw new Error('usage: node verifier.mjs export.jsonl | proof.txt --event event.json [--vkey key] [--head file]...')
  const keys = values.vkey === undefined ? [] : keysOf(values.vkey)
  const heads = (values.head ?? []).flatMap((name) => {
    const found = readHeads(readFileSync(name, 'utf8'))
    if (!found) throw new Error(`${name} is not a file of heads`)
    return found
  })
  return { file, keys, heads, event: values.event }
}

const runProof = (file: string, event: string, heads: readonly Head[], keys: readonly Key[]): number => {
  try {
    const proof = readProof(readFileSync(file, 'utf8'))
    const findings = checkProof(proof, readFileSync(event), heads, keys)
    for (const finding of findings) say(finding)
    if (findings.length === 0) {
      const { index, checkpoint } = proof
      say(`The proof holds: the event of position ${index + 1} is one of the first ${checkpoint.size} of ${checkpoint.origin}`)
      const signer = signerOf(checkpoint, keys)
      if (signer) say(`Signed by the key given, ${shownKeys([signer])}.`)
      else say('Whose signature the head has was not checked: give the key that you know (--vkey).')
      if (heads.length > 0) say('Proven by the head that was kept.')
      return 0
    }
  } catch (error) {
    if (!(error instanceof MalformedInputError)) throw error
    say(error.message)
  }
  say('THE PROOF DOES NOT HOLD')
  return 1
}

const run = async (args: string[]): Promise<number> => {
  const { file, keys, heads, event } = readArguments(args)
  if (event !== undefined) return runProof(file, event, heads, keys)
  const { header, check, findings } = await checkFile(file, heads, keys)
  for (const finding of findings) say(finding)
  if (!header || !check || findings.length > 0) {
    say('THE EXPORT DOES NOT HOLD')
    return 1
  }
  const { tree, omitted } = check
  say(
    `The export holds: ${tree.size - omitted} events up to position ${tree.size} of log ${header.log}, root ${tree.root().toString('base64')}`,
  )
  if (header.project !== null) {
    say(`Of project ${header.project}: the ${omitted} events left out are in the root by their hashes; their texts cannot be seen here.`)
    say('No stream has a gap. Whether the newest events of one, or a whole one, are among those left out cannot be seen.')
  }
  const signer = signerOf(header.checkpoint, keys)
  if (signer) say(`Signed by the key given, ${shownKeys([signer])}.`)
  else say(`Signed by the export's own key, which proves only that it agrees with itself: give the key that you know (--vkey).`)
  for (const { size } of heads) say(`Proven by the head that was kept: the first ${size} events are those of then.`)
  if (heads.length === 0) say('No head kept elsewhere was given (--head): who holds the key could have signed another history.')
  return 0
}

// A reader that has enough output closes the pipe; the exit status has the result.
process.stdout.on('error', () => undefined)

run(process.argv.slice(2)).then(
  (status) => (process.exitCode = status),
  (error: unknown) => {
    process.stderr.write(`verifier: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 2
  },
)
