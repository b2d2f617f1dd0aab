import { bytes as bytesAt, json, text as textAt } from '../../api/request.js'
import { bytesOf, isSigned, parseHead, type Head } from './head.js'
import type { LocalHead } from './kept-heads.js'
import { isContinued, isIncluded, leafOf } from './proof.js'

/** The result of a check, in words; `isProven` is undefined if something could not be checked. */
export type Finding = { isProven: boolean | undefined; says: string }

/** On a page without HTTPS the browser offers no hash functions. */
export const canCheck = (): boolean => typeof crypto !== 'undefined' && 'subtle' in crypto

/** The newest head, and the key that must have signed it. @throws ApiError */
export const loadHead = async (signal: AbortSignal): Promise<{ head: Head; key: string; isSigned: boolean | undefined }> => {
  const [note, key] = await Promise.all([
    textAt('log/checkpoint', { signal, isUnkept: true, headers: { Accept: 'text/plain' } }),
    textAt('log/key', { signal, isUnkept: true, headers: { Accept: 'text/plain' } }),
  ])
  const head = parseHead(note)
  return { head, key: key.trim(), isSigned: canCheck() ? await isSigned(head, key) : undefined }
}

const count = (size: number): string => size.toLocaleString('en')

/**
 * Whether the current log begins with the log of a kept head.
 *
 * @throws ApiError when the service cannot be reached
 */
export const checkKept = async ({ head: kept, key, isFromFile }: LocalHead, shown: Head, signal: AbortSignal): Promise<Finding> => {
  // The log may have grown since the page loaded its newest head.
  const newest = kept.size > shown.size ? (await loadHead(signal)).head : shown
  if (kept.log !== newest.log)
    return isFromFile
      ? { isProven: undefined, says: 'It is the head of another log.' }
      : { isProven: false, says: `This address had the log ${kept.log}, and has ${newest.log} now: the log was replaced.` }
  if (kept.size > newest.size)
    return { isProven: false, says: `The log has ${count(newest.size)} events now, and had ${count(kept.size)}: events are gone.` }
  if ((await isSigned(newest, key)) === false)
    return { isProven: false, says: 'The newest head is not signed with the key that the service had when this one was kept.' }
  const { hashes } = await json<{ hashes: string[] }>(`log/proofs/consistency?from=${kept.size}&to=${newest.size}`, {
    signal,
    isUnkept: true,
  })
  return (await isContinued(kept, newest, hashes.map(bytesOf)))
    ? { isProven: true, says: `The first ${count(kept.size)} events are those of then, to the byte.` }
    : { isProven: false, says: `The first ${count(kept.size)} events are not those of then: the past was changed.` }
}

/**
 * Whether a head's log contains an event at its position.
 *
 * @example await checkEvent(17, head, signal)
 * @throws ApiError when the event does not exist
 */
export const checkEvent = async (position: number, head: Head, signal: AbortSignal): Promise<Finding & { text: string }> => {
  // A browser keeps events for long. It would go on to show an event that was changed in the service as it was.
  const bytes = await bytesAt(`events/${position}`, { signal, isUnkept: true })
  const text = new TextDecoder().decode(bytes)
  if (position > head.size) return { isProven: undefined, says: 'It was recorded after this head.', text }
  const { hashes } = await json<{ hashes: string[] }>(`log/proofs/inclusion?position=${position}&size=${head.size}`, {
    signal,
    isUnkept: true,
  })
  const isProven = await isIncluded(await leafOf(bytes), position - 1, head.size, hashes.map(bytesOf), head.root)
  const what = `the event at position ${count(position)} of the log with ${count(head.size)} events`
  return { isProven, says: isProven ? `This text is ${what}.` : `This text is not ${what}.`, text }
}
