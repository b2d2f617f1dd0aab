import { Check, readHeader, type Header } from './check.js'
import type { Head, Key } from './heads.js'
import { MalformedInputError, fieldsOf, linesOf } from './lines.js'
import { Listing } from './listing.js'
import { leafHash } from './tree.js'

/** The result for a file: its header and the check, if it has a header, and the findings. */
type Result = { header?: Header; check?: Check; findings: string[] }

/** The findings. If the signed root identifies the changed lines, these replace the findings that only follow from them. */
const findingsOf = (check: Check, listing: Listing | undefined, header: Header, broken: string | undefined): string[] => {
  if (broken === undefined) check.finish()
  const proof = [...check.order.sentences, ...check.findings.sentences, ...(broken === undefined ? [] : [broken])]
  if (!listing) return proof
  const whyNot = listing.whyNot(header.checkpoint)
  if (whyNot !== undefined)
    return [...proof, proof.length === 0 ? `the list of hashes was changed: ${whyNot}` : `Which line it was cannot be said: ${whyNot}`]
  const named = listing.differences.sentences
  if (named.length === 0 || !check.isHeadSound) return proof
  return [...named, ...check.findings.sentences]
}

/** Why a step stopped, if a line was the reason. */
const stopOf = (step: () => void): string | undefined => {
  try {
    step()
    return undefined
  } catch (error) {
    if (error instanceof MalformedInputError) return error.message
    throw error
  }
}

/** Reads the whole file. It checks lines as far as possible, and reads the lists to the end. `trusted` are the keys that may sign. */
export const checkFile = async (file: string, heads: Head[], trusted: readonly Key[]): Promise<Result> => {
  let read: { header: Header; check: Check; listing: Listing | undefined } | undefined
  let broken: string | undefined
  try {
    for await (const bytes of linesOf(file)) {
      if (!read) {
        const header = readHeader(bytes.toString())
        read = { header, check: new Check(header, heads, trusted), listing: header.format === 1 ? undefined : new Listing() }
        continue
      }
      const { check, listing } = read
      const [fields, leaf] = [fieldsOf(bytes.toString()), leafHash(bytes)]
      listing?.line(fields, leaf)
      if (listing && 'leaves' in fields) continue
      broken ??= stopOf(() => check.line(fields, leaf))
    }
  } catch (error) {
    if (!(error instanceof MalformedInputError)) throw error
    broken ??= error.message
  }
  if (!read) return { findings: [broken ?? 'the file is empty'] }
  const { header, check, listing } = read
  return { header, check, findings: findingsOf(check, listing, header, broken) }
}
