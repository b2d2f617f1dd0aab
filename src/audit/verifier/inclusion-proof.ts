import { readHeads, shownKeys, signerOf, type Head, type Key } from './heads.js'
import { MalformedInputError, fieldsOf } from './lines.js'
import { fromBase64, leafHash, nodeHash } from './tree.js'

/**
 * The root computed from a leaf and the hashes along its path, by section 2.1.3.2 of RFC 9162. Undefined when there are too many or too few
 * hashes.
 */
const rootFrom = (leaf: Buffer, index: number, size: number, hashes: readonly Buffer[]): Buffer | undefined => {
  let [at, last, sum] = [index, size - 1, leaf]
  for (const hash of hashes) {
    if (last === 0) return undefined
    if (at % 2 === 1 || at === last) {
      sum = nodeHash(hash, sum)
      while (at % 2 === 0 && at !== 0) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
    } else sum = nodeHash(sum, hash)
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return last === 0 ? sum : undefined
}

/** A proof of one event, C2SP's tlog-proof: the leaf's index, hashes, and the signed head. */
type Proof = { index: number; hashes: Buffer[]; checkpoint: Head }

/** @throws MalformedInputError */
export const readProof = (text: string): Proof => {
  const end = text.indexOf('\n\n')
  const [format, at = '', ...encoded] = text.slice(0, Math.max(0, end)).split('\n')
  const [, index] = /^index (0|[1-9]\d{0,15})$/.exec(at) ?? []
  const hashes = encoded.flatMap((hash) => fromBase64(hash, 32) ?? [])
  const [checkpoint, more] = readHeads(text.slice(end + 2)) ?? []
  if (format !== 'c2sp.org/tlog-proof@v1' || index === undefined || hashes.length !== encoded.length || !checkpoint || more)
    throw new MalformedInputError('the first file is not a proof: GET /api/log/proofs/inclusion gives one with Accept: text/plain')
  return { index: Number(index), hashes, checkpoint }
}

/** Checks one proof, and returns the findings. If there are keys, one of them must have signed each head. */
export const checkProof = (proof: Proof, event: Buffer, heads: readonly Head[], keys: readonly Key[]): string[] => {
  const { index, hashes, checkpoint } = proof
  const findings: string[] = []
  const isSigned = (head: Head): boolean => keys.length === 0 || signerOf(head, keys) !== undefined
  const text = event.at(-1) === 10 ? event.subarray(0, -1) : event
  const { position } = fieldsOf(text.toString())
  if (position !== index + 1)
    findings.push(`the event says that its position is ${String(position)}, the proof is of position ${index + 1}`)
  if (index >= checkpoint.size) findings.push(`position ${index + 1} is not in a log of ${checkpoint.size} events`)
  else if (!rootFrom(leafHash(text), index, checkpoint.size, hashes)?.equals(checkpoint.root ?? Buffer.alloc(0)))
    findings.push(`position ${index + 1}: the event and the hashes do not add up to the root of the head: one of them was changed`)
  if (!isSigned(checkpoint)) findings.push(`the head is not signed by the key ${shownKeys(keys)}`)
  for (const head of heads) {
    if (head.origin !== checkpoint.origin) findings.push(`a head that was kept is of another log: ${head.origin}`)
    else if (head.size !== checkpoint.size || !head.root)
      findings.push(
        `NOT PROVEN: the head of size ${head.size} is of another size than the proof, ${checkpoint.size}: ask for a proof with it`,
      )
    else if (!checkpoint.root?.equals(head.root)) findings.push(`the kept head of size ${head.size} differs: the log was changed`)
    else if (!isSigned(head)) findings.push(`the head of size ${head.size} that was kept is not signed by ${shownKeys(keys)}`)
  }
  return findings
}
