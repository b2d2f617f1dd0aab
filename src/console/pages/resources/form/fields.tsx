import type { Field } from '../../../api/schemas.js'
import { isObject, type Value } from '../../../api/sql.js'
import { useLoaded } from '../../../basics/loading.js'
import { fewMax, useIsSearched, type Found, type Option, type SearchOptions } from '../../../lists/choices.js'
import { SearchChoice } from '../../../lists/search-choice.js'
import { SearchField } from '../../../lists/search-field.js'
import { resourcesFor } from './choices.js'

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

/** What a field says by itself of the texts that it takes. */
const usually: Readonly<Partial<Record<Field['form'], string>>> = {
  list: 'one a line',
  object: 'an object in JSON',
  mixed: 'a name, or an object in JSON',
}

type Props = {
  field: Field
  text: string
  set: (text: string) => void
  isWrong: boolean
  /** The project whose resources are proposed. */
  project: string | null
}

/** The proposals for a field: resources that it can refer to, or the examples in the API's document. */
type Proposals = { found: Found | undefined; search: SearchOptions | undefined }

/** A field with its proposals, which are asked for when it is shown, and again for another project. */
const useProposals = (field: Field, project: string | null): Proposals => {
  const search = resourcesFor(field, project)
  const { loaded } = useLoaded(async (signal) => search && (await search('', fewMax, signal)), [field.name, search && project])
  const examples = field.examples.map((value) => ({ value, text: value }))
  return { found: search ? loaded.value.value : { options: examples, all: examples.length }, search }
}

type AddingProps = Pick<Props, 'text' | 'set'> & { name: string; found: Found; search: SearchOptions }

/** Adds a chosen value as a line to the text of a list. A text area has no proposals of its own, unlike a field of one line. */
const Adding = ({ name, text, set, found, search }: AddingProps) => {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  // A line with params names its resource in JSON.
  const isNew = ({ value }: Option) => !lines.some((line) => line === value || line.includes(JSON.stringify(value)))
  const others = { ...found, options: found.options.filter(isNew) }
  const isFew = found.all === found.options.length
  if (isFew && others.options.length === 0) return null
  return (
    <SearchChoice
      label={`Add to ${name.replaceAll('_', ' ')}`}
      labelIs="hidden"
      value=""
      none="Add…"
      choose={(value) => value !== '' && set([...lines, value].join('\n'))}
      found={isFew ? { ...others, all: others.options.length } : found}
      search={search}
    />
  )
}

/** A control for one member of a body. */
export const Control = (props: Props) => {
  const { field, project } = props
  const { found, search } = useProposals(field, project)
  const { isSearched, root, left } = useIsSearched(found)
  return (
    <div class="field">
      {search && isSearched && field.form === 'text' ? (
        <SearchField
          root={root}
          left={left}
          label={<Name {...field} />}
          after={<small class="quiet">{field.description ?? ''}</small>}
          attributes={attributesOf(props)}
          text={props.text}
          type={props.set}
          choose={({ value }) => props.set(value)}
          search={search}
        />
      ) : (
        <Labelled {...props} root={root} left={left} choices={found?.options.map(({ value }) => value) ?? []} />
      )}
      {search && found && field.form === 'list' && <Adding name={field.name} {...props} found={found} search={search} />}
    </div>
  )
}

const Name = ({ name, isRequired }: Pick<Field, 'name' | 'isRequired'>) => (
  <span>
    {name.replaceAll('_', ' ')} {isRequired && <span class="quiet">required</span>}
  </span>
)

const attributesOf = ({ field, isWrong }: Props) => ({ 'aria-invalid': isWrong || undefined, required: field.isRequired })

type LabelledProps = Props & { choices: readonly string[]; root: (element: HTMLElement | null) => void; left: () => void }

const Labelled = (props: LabelledProps) => {
  const { field, text, set, choices, root, left } = props
  const { name, form, isRequired, description } = field
  const common = attributesOf(props)
  const isLong = form === 'list' || form === 'object' || form === 'mixed' || long.test(name)
  return (
    <label ref={root} onFocusOut={left}>
      <Name {...field} />
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
      <small class="quiet">{description ?? usually[form] ?? ''}</small>
    </label>
  )
}
