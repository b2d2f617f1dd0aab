import type { Field } from '../../../api/schemas.js'
import { isObject, type Value } from '../../../api/sql.js'

/** Texts with several lines. */
const long = /query|prompt|statement/

/** An item of a list as one line: its name if it has nothing else, or JSON. */
const lineOf = (item: Value): string => {
  if (!isObject(item)) return typeof item === 'string' ? item : JSON.stringify(item)
  const { name, ...rest } = item
  return typeof name === 'string' && Object.keys(rest).length === 0 ? name : JSON.stringify(item)
}

/** The text in a control for a value. */
export const textOf = (form: Field['form'], value: Value | undefined): string => {
  if (value === null || value === undefined) return ''
  if (form === 'list' && Array.isArray(value)) return value.map(lineOf).join('\n')
  return typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)
}

const textOrNumber = /"(?:[^"\\]|\\.)*"|\d[\d.eE+-]*/g
const isRounded = (written: string): boolean => /^\d{16,}$/.test(written) && String(Number(written)) !== written

/** @throws Error for a whole number that the browser would round */
const refuseRounded = (name: string, text: string): void => {
  const rounded = text.match(textOrNumber)?.find(isRounded)
  if (rounded !== undefined)
    throw new Error(`${name}: the number ${rounded.slice(0, 40)} is too large to be kept exactly. Write it in quotes.`)
}

const parsed = (name: string, text: string): Value => {
  refuseRounded(name, text)
  try {
    return JSON.parse(text) as Value
  } catch (error) {
    throw new Error(`${name} is no JSON: ${error instanceof Error ? error.message : ''}. Write {"key": "value"}.`, { cause: error })
  }
}

/**
 * The value for the text in a control; undefined if it is empty.
 *
 * @throws Error that explains the expected text
 */
export const valueOf = ({ name, form }: Field, text: string): Value | undefined => {
  if (text.trim() === '') return undefined
  if (form === 'flag') return text === 'true'
  if (form === 'list')
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map((line) => (line.startsWith('{') ? parsed(name, line) : line))
  if (form === 'number') {
    if (!Number.isFinite(Number(text))) throw new Error(`${name} is a number`)
    refuseRounded(name, text)
    return Number(text)
  }
  if (form === 'text' || form === 'choice' || (form === 'mixed' && !/^\s*[{[]/.test(text))) return text
  return parsed(name, text)
}

type Props = { field: Field; text: string; set: (text: string) => void; isWrong: boolean; choices: readonly string[] }

/** Adds a chosen value as a line to the text of a list. A text area has no proposals of its own, unlike a field of one line. */
const Adding = ({ name, text, set, choices }: { name: string } & Pick<Props, 'text' | 'set' | 'choices'>) => {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  // A line with params names its resource in JSON.
  const others = choices.filter((choice) => !lines.some((line) => line === choice || line.includes(JSON.stringify(choice))))
  if (others.length === 0) return null
  return (
    <select
      aria-label={`Add to ${name.replaceAll('_', ' ')}`}
      value=""
      onChange={({ currentTarget }) => set([...lines, currentTarget.value].join('\n'))}
    >
      <option value="">Add…</option>
      {others.map((choice) => (
        <option key={choice}>{choice}</option>
      ))}
    </select>
  )
}

/** A control for one member of a body. */
export const Control = (props: Props) => (
  <div class="field">
    <Labelled {...props} />
    {props.field.form === 'list' && <Adding name={props.field.name} {...props} />}
  </div>
)

const Labelled = ({ field: { name, form, isRequired, description }, text, set, isWrong, choices }: Props) => {
  const common = { 'aria-invalid': isWrong || undefined, required: isRequired }
  const isLong = form === 'list' || form === 'object' || form === 'mixed' || long.test(name)
  return (
    <label>
      <span>
        {name.replaceAll('_', ' ')} {isRequired && <span class="quiet">required</span>}
      </span>
      {form === 'flag' ? (
        <select {...common} value={text} onChange={({ currentTarget }) => set(currentTarget.value)}>
          <option value="">not set</option>
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      ) : form === 'choice' ? (
        <select {...common} value={text} onChange={({ currentTarget }) => set(currentTarget.value)}>
          {!(isRequired && choices.includes(text)) && <option value="">not set</option>}
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : isLong ? (
        <textarea
          {...common}
          rows={Math.min(14, Math.max(form === 'mixed' ? 1 : 3, text.split('\n').length))}
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      ) : form === 'number' ? (
        <input {...common} type="number" value={text} onInput={({ currentTarget }) => set(currentTarget.value)} />
      ) : (
        <input
          {...common}
          list={choices.length > 0 ? `choices-${name}` : undefined}
          value={text}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      )}
      {form === 'text' && choices.length > 0 && (
        <datalist id={`choices-${name}`}>
          {choices.map((choice) => (
            <option key={choice} value={choice} />
          ))}
        </datalist>
      )}
      <small class="quiet">
        {description ??
          {
            list: 'one a line',
            object: 'an object in JSON',
            mixed: 'a name, or an object in JSON',
            text: '',
            number: '',
            flag: '',
            choice: '',
          }[form]}
      </small>
    </label>
  )
}
