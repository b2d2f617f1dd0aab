import { useSignal } from '@preact/signals'
import { json, type ApiError } from '../../api/request.js'
import type { Value } from '../../api/sql.js'
import { asApiError } from '../../basics/loading.js'
import { hrefOf } from '../../basics/place.js'
import { Refusal } from '../../components/notice.js'
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
      {told.already_erased > 0 ? `; ${countText(told.already_erased)} were erased before` : ''}.
    </p>
    {told.shared_with.length > 0 && <p>These use the same, and lose it, too: {told.shared_with.map(said).join(', ')}.</p>}
    {told.also_in.length > 0 && <p>Copies that stay: {told.also_in.map(said).join(', ')}.</p>}
  </>
)

/** Erases a person's data after showing how much data that is. The user confirms that this cannot be undone. */
export const Erase = ({ erased }: { erased: () => void }) => {
  const what = useSignal('request')
  const given = useSignal<Record<string, string>>({})
  const reason = useSignal('')
  const plan = useSignal<ErasurePlan | undefined>(undefined)
  const isSure = useSignal(false)
  const done = useSignal<ErasureResult | undefined>(undefined)
  const error = useSignal<ApiError | undefined>(undefined)
  const isSending = useSignal(false)
  const change = (next: () => void) => {
    next()
    plan.value = undefined
    done.value = undefined
    isSure.value = false
  }
  /** Whether the fields still name these data: an answer about other data is not shown. */
  const areChosen = (data: ErasurePlan['data']): boolean => JSON.stringify(bodyOf(what.value, given.value)) === JSON.stringify(data)
  const attempt = async (action: () => Promise<void>) => {
    error.value = undefined
    isSending.value = true
    try {
      await action()
    } catch (refused) {
      error.value = asApiError(refused)
    } finally {
      isSending.value = false
    }
  }
  const ask = () =>
    attempt(async () => {
      const data = bodyOf(what.value, given.value)
      const told = await json<ErasureResult>('log/erasures', { method: 'POST', body: { ...data, dry_run: true, shared: true } })
      if (areChosen(data)) plan.value = { data, told }
    })
  const erase = ({ data, told }: ErasurePlan) =>
    attempt(async () => {
      const body = {
        ...data,
        ...(reason.value.trim() !== '' && { reason: reason.value.trim() }),
        // The user has already seen the other users of the data.
        ...(told.shared_with.length > 0 && { shared: true }),
      }
      const result = await json<ErasureResult>('log/erasures', { method: 'POST', body })
      if (areChosen(data)) change(() => (given.value = {}))
      done.value = result
      erased()
    })
  const planned = plan.value
  return (
    <details>
      <summary>Erase data of a person</summary>
      <form
        class="resource-form"
        onSubmit={(event) => {
          event.preventDefault()
          void ask()
        }}
      >
        <label>
          What
          <select value={what.value} onChange={({ currentTarget }) => change(() => (what.value = currentTarget.value))}>
            {Object.keys(subjects).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {(subjects[what.value] ?? []).map((name) => (
          <label key={name}>
            <span>{name.replaceAll('_', ' ')}</span>
            <input
              required={name !== 'project' && name !== 'ids'}
              value={given.value[name] ?? ''}
              onInput={({ currentTarget }) => change(() => (given.value = { ...given.value, [name]: currentTarget.value }))}
            />
          </label>
        ))}
        <label>
          Reason, which the log keeps
          <input value={reason.value} onInput={({ currentTarget }) => (reason.value = currentTarget.value)} />
        </label>
        {error.value && <Refusal error={error.value} />}
        <div class="row">
          <button type="submit" disabled={isSending.value}>
            What would be erased
          </button>
        </div>
        {planned && (
          <div class="notice" role="group" aria-label="What would be erased">
            <Found told={planned.told} />
            <label class="inline">
              <input type="checkbox" checked={isSure.value} onChange={({ currentTarget }) => (isSure.value = currentTarget.checked)} />
              <span>I know that nobody can bring it back</span>
            </label>
            <div class="row">
              <button type="button" class="danger" disabled={!isSure.value || isSending.value} onClick={() => void erase(planned)}>
                Erase it
              </button>
            </div>
          </div>
        )}
        {done.value && (
          <p role="status" class="notice">
            Erased: {done.value.subject}.{' '}
            {done.value.positions.map((position) => (
              <a key={position} href={hrefOf('/events', { position: String(position) })}>
                event {position}
              </a>
            ))}
          </p>
        )}
      </form>
    </details>
  )
}
