import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useIsSearched, type Found, type Option, type SearchOptions } from './choices.js'
import { SearchField } from './search-field.js'

type Props = {
  label: string
  /** Where the label stands; `hidden` leaves it to screen readers. */
  labelIs?: 'above' | 'beside' | 'hidden'
  value: string
  choose: (value: string) => void
  /** The options before anything is typed; undefined while they are loaded. */
  found: Found | undefined
  search: SearchOptions
  /** The name of the option for no choice; without it there is none. */
  none?: string
  /** Options besides those that are found. */
  also?: readonly Option[]
  /** The name of a value that is not among the options; by default the value. */
  nameOf?: (value: string) => string
}

/**
 * A field for one of several options. A few are all in a list. Of many, a search field asks the service for those whose names have a text.
 *
 * @example <SearchChoice label="Project" value={project} choose={choose} found={loaded.value.value} search={searchProjects} />
 */
export const SearchChoice = (props: Props) => {
  const { label, labelIs = 'above', value, choose, found, none, also = [], nameOf = (one) => one } = props
  const name: ComponentChildren = labelIs === 'hidden' ? null : labelIs === 'beside' ? <span>{label}</span> : label
  const options = found?.options ?? []
  const { isSearched, root, left } = useIsSearched(found)
  /** The option that was taken last. It may not be among the first ones. */
  const taken = useSignal<Option | undefined>(undefined)
  if (isSearched) {
    const known = [...also, ...options, ...(taken.value ? [taken.value] : [])].find((one) => one.value === value)
    const first = [...(none === undefined || value === '' ? [] : [{ value: '', text: none }]), ...also]
    const take = (option: Option) => {
      taken.value = option
      choose(option.value)
    }
    return (
      <SearchField
        root={root}
        left={left}
        label={name}
        isBeside={labelIs === 'beside'}
        attributes={labelIs === 'hidden' ? { 'aria-label': label } : {}}
        text={known?.text ?? (value === '' ? (none ?? '') : nameOf(value))}
        first={first}
        search={props.search}
        choose={take}
      />
    )
  }
  const isListed = value === '' || [...also, ...options].some((one) => one.value === value)
  const all = [...also, ...(isListed ? [] : [{ value, text: nameOf(value) }]), ...options]
  const list = (
    <select
      ref={labelIs === 'hidden' ? root : null}
      onFocusOut={left}
      aria-label={labelIs === 'hidden' ? label : undefined}
      value={value}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
    >
      {none !== undefined && <option value="">{none}</option>}
      {all.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text}
        </option>
      ))}
    </select>
  )
  if (labelIs === 'hidden') return list
  return (
    <label ref={root} class={labelIs === 'beside' ? 'inline' : undefined}>
      {name}
      {list}
    </label>
  )
}
