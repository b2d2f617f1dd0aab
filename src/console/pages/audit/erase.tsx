import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { json } from '../../api/request.js'
import type { Value } from '../../api/sql.js'
import { useDraft } from '../../basics/drafts.js'
import { useFocusWhen } from '../../basics/focus.js'
import { useIsShown, useLoaded, useSending } from '../../basics/loading.js'
import { changeQuery, hrefOf, jsonIn, place } from '../../basics/place.js'
import { Refusal } from '../../components/notice.js'
import { Restored } from '../../components/restored.js'
import { countText } from '../../components/value.js'

/** The subjects that can be erased, and the fields that identify them. A single field is sent as a plain value. */
const subjects: Readonly<Record<string, readonly string[]>> = {
  request: ['id of the request'],
  prediction: ['position'],
  answer: ['id or position'],
  conversation: ['id'],
  file: ['name'],
  matrix: ['project', 'model', 'version'],
  secrets: ['kind', 'project', 'name'],
  documents: ['project', 'knowledge_base', 'ids'],
  before: ['time'],
}

const numbers: ReadonlySet<string> = new Set(['position', 'version'])

/** The value of a field as the API expects it: documents have one or more ids. */
const partOf = (name: string, text: string): Value => {
  if (name === 'ids')
    return text
      .split(',')
      .map((id) => id.trim())
      .filter((id) => id !== '')
  return numbers.has(name) || (name === 'id or position' && /^\d+$/.test(text)) ? Number(text) : text
}

/** The body of an erasure request. @example bodyOf('prediction', { position: '12' }) // { prediction: 12 } */
const bodyOf = (what: string, given: Readonly<Record<string, string>>): Record<string, Value> => {
  const parts = (subjects[what] ?? [])
    .map((name) => [name, given[name]?.trim() ?? ''] as const)
    .filter(([, text]) => text !== '')
    .map(([name, text]) => [name, partOf(name, text)] as const)
  const isScalar = subjects[what]?.length === 1 && what !== 'file'
  return { [what]: isScalar ? (parts[0]?.[1] ?? '') : Object.fromEntries(parts) }
}

type ErasureResult = {
  subject: string
  positions: number[]
  payloads: number
  rows: number
  blobs: string[]
  kept_answers: boolean
  already_erased: number
  shared_with: Value[]
  also_in: Value[]
}

/** The data of an erasure request, and what an erasure of them would remove. */
type ErasurePlan = { data: Record<string, Value>; told: ErasureResult }

const said = (value: Value): string => (typeof value === 'string' ? value : JSON.stringify(value))

const Found = ({ told }: { told: ErasureResult }) => (
  <>
    <p>
      {countText(told.payloads)} encrypted {told.payloads === 1 ? 'record' : 'records'} with {countText(told.rows)} rows, and{' '}
      {countText(told.blobs.length)} {told.blobs.length === 1 ? 'content' : 'contents'}
      {told.kept_answers ? ', and the answers kept for repeated requests' : ''}
      {told.already_erased > 0 ? `; ${countText(told.already_erased)} were erased before` : ''}.
    </p>
    {told.shared_with.length > 0 && <p>These use the same, and lose it, too: {told.shared_with.map(said).join(', ')}.</p>}
    {told.also_in.length > 0 && <p>Copies that stay: {told.also_in.map(said).join(', ')}.</p>}
  </>
)

/** The texts of fields in an address. */
const fieldsIn = (text: string | null): Record<string, string> => {
  const found = jsonIn(text)
  if (typeof found !== 'object' || found === null) return {}
  return Object.fromEntries(Object.entries(found).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

/** The chosen data, and whether to show what an erasure of them would remove, as the address has them. */
const chosen = () => {
  const { query } = place.value
  const named = query.get('erase') ?? ''
  const what = Object.hasOwn(subjects, named) ? named : 'request'
  const given = fieldsIn(query.get('of'))
  return { what, given, data: bodyOf(what, given), isPlanned: query.get('plan') === 'erase', isOpen: named !== '' }
}

/** Erases a person's data after showing how much data that is. The user confirms that this cannot be undone. The plan has an address. */
export const Erase = ({ erased }: { erased: () => void }) => {
  const { what, given, data, isPlanned, isOpen } = chosen()
  const { found, type, drop } = useDraft('reason of an erasure')
  /** A form with what was typed before is open, and stays so when that is discarded. */
  const wasTyped = useRef(found !== undefined)
  const reason = useSignal(found?.texts['reason'] ?? '')
  /** The plan that the user agrees to: another one needs a new word. */
  const agreed = useSignal<ErasurePlan | undefined>(undefined)
  const done = useSignal<ErasureResult | undefined>(undefined)
  const { send, isSending, error: refused, forget } = useSending()
  const isShown = useIsShown()
  const asked = isPlanned ? JSON.stringify(data) : undefined
  const { loaded, reload } = useLoaded(async (): Promise<ErasurePlan | undefined> => {
    if (asked === undefined) return undefined
    const body = { ...data, dry_run: true, shared: true }
    return { data, told: await json<ErasureResult>('log/erasures', { method: 'POST', body, isReading: true }) }
  }, [asked])
  const { value: plan, isLoading } = loaded.value
  const error = refused ?? loaded.value.error
  /** The plan of the data in the fields, and of no others. */
  const planned = plan && JSON.stringify(plan.data) === asked ? plan : undefined
  /** Whether the user asked for the plan here. The plan of an address does not take the focus. */
  const isAsked = useSignal(false)
  const button = useRef<HTMLButtonElement>(null)
  const group = useFocusWhen<HTMLDivElement>(planned !== undefined && !isLoading && isAsked.value, button)
  const change = (next: { what: string; given: Record<string, string> }) => {
    isAsked.value = false
    changeQuery({ erase: next.what, of: Object.keys(next.given).length === 0 ? undefined : JSON.stringify(next.given), plan: undefined })
    done.value = undefined
    forget()
  }
  const ask = () => {
    isAsked.value = true
    done.value = undefined
    forget()
    if (isPlanned) reload()
    else changeQuery({ erase: what, plan: 'erase' })
  }
  const erase = ({ data: planData, told }: ErasurePlan) =>
    send(async () => {
      const body = {
        ...planData,
        ...(reason.value.trim() !== '' && { reason: reason.value.trim() }),
        // The user has already seen the other users of the data.
        ...(told.shared_with.length > 0 && { shared: true }),
      }
      const result = await json<ErasureResult>('log/erasures', { method: 'POST', body })
      drop()
      // The fields may name other data by now, or the user may have left.
      const now = chosen()
      if (isShown() && JSON.stringify(now.data) === JSON.stringify(planData)) change({ what: now.what, given: {} })
      done.value = result
      erased()
    })
  const write = (text: string) => {
    reason.value = text
    type(text === '' ? {} : { reason: text })
  }
  const discard = () => {
    drop()
    reason.value = ''
  }
  return (
    <details open={isOpen || wasTyped.current}>
      <summary>Erase data of a person</summary>
      <form
        class="resource-form"
        onSubmit={(event) => {
          event.preventDefault()
          ask()
        }}
      >
        {found && <Restored draft={found} discard={discard} />}
        <label>
          What
          <select value={what} onChange={({ currentTarget }) => change({ what: currentTarget.value, given })}>
            {Object.keys(subjects).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {(subjects[what] ?? []).map((name) => (
          <label key={name}>
            <span>{name.replaceAll('_', ' ')}</span>
            <input
              required={name !== 'project' && name !== 'ids'}
              value={given[name] ?? ''}
              onInput={({ currentTarget }) => change({ what, given: { ...given, [name]: currentTarget.value } })}
            />
          </label>
        ))}
        <label>
          Reason, which the log keeps
          <input value={reason.value} onInput={({ currentTarget }) => write(currentTarget.value)} />
        </label>
        {error && <Refusal error={error} />}
        <div class="row">
          <button ref={button} type="submit" disabled={isSending || (isPlanned && isLoading)}>
            What would be erased
          </button>
        </div>
        {planned && (
          <div ref={group} class="notice" role="group" tabIndex={-1} aria-label="What would be erased">
            <Found told={planned.told} />
            <label class="inline">
              <input
                type="checkbox"
                checked={agreed.value === planned}
                onChange={({ currentTarget }) => (agreed.value = currentTarget.checked ? planned : undefined)}
              />
              <span>I know that nobody can bring it back</span>
            </label>
            <div class="row">
              <button type="button" class="danger" disabled={agreed.value !== planned || isSending} onClick={() => void erase(planned)}>
                Erase it
              </button>
            </div>
          </div>
        )}
        {done.value && (
          <div role="status" class="notice">
            <p>
              Erased: {done.value.subject}.{' '}
              {done.value.positions.map((position) => (
                <a key={position} href={hrefOf('/events', { position: String(position) })}>
                  event {position}
                </a>
              ))}
            </p>
            <Found told={done.value} />
          </div>
        )}
      </form>
    </details>
  )
}
