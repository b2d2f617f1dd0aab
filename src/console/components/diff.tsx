import { isObject, type Value } from '../api/sql.js'

/** One operation of a JSON Patch (RFC 6902), with the previous value if it is known. */
export type Operation = { op: 'add' | 'remove' | 'replace'; path: string; value?: Value; was?: Value }

const signs = { add: '+', remove: '−', replace: '~' } as const
const words = { add: 'set', remove: 'removed', replace: 'changed' } as const

const nameOf = (path: string): string =>
  path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join(' › ')

const text = (value: Value | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

/** Longer values are collapsed, so that the other changes stay visible. */
const longChars = 400

const Told = ({ value }: { value: Value | undefined }) => {
  const whole = text(value)
  if (whole.length <= longChars) return whole.includes('\n') ? <pre>{whole}</pre> : <code>{whole}</code>
  return (
    <details>
      <summary>
        <code>{whole.slice(0, 80).replaceAll(/\s+/g, ' ')}…</code> <span class="quiet">{whole.length.toLocaleString('en')} characters</span>
      </summary>
      <pre>{whole}</pre>
    </details>
  )
}

/** A whole record: one that is new, or one that was deleted, with its fields if they are known. */
const Fields = ({ value, was }: Operation) => {
  const record = isObject(value) ? value : isObject(was) ? was : {}
  const op = isObject(value) ? 'add' : 'remove'
  return (
    <>
      {op === 'remove' && (
        <li class={op}>
          <span aria-hidden="true">{signs[op]}</span> deleted
        </li>
      )}
      {Object.entries(record).map(([name, part]) => (
        <li key={name} class={op}>
          <span aria-hidden="true">{signs[op]}</span> <b>{name}</b> <Told value={part} />
        </li>
      ))}
    </>
  )
}

/** The old value, if it is known, and the new value. */
const FromTo = ({ op, value, was }: Operation) => (
  <>
    {words[op]}{' '}
    {was !== undefined && (
      <del>
        <Told value={was} />
      </del>
    )}{' '}
    {op === 'replace' && <span>{was === undefined ? 'to' : '→'} </span>}
    {op !== 'remove' && <Told value={value} />}
  </>
)

/** The differences of a change, one per line, each with its old and its new value. */
export const Diff = ({ operations }: { operations: readonly Operation[] }) => (
  <ul class="diff">
    {operations.map((operation, i) =>
      operation.path === '' ? (
        <Fields key={i} {...operation} />
      ) : (
        <li key={i} class={operation.op}>
          <span aria-hidden="true">{signs[operation.op]}</span> <b>{nameOf(operation.path)}</b> <FromTo {...operation} />
        </li>
      ),
    )}
  </ul>
)
