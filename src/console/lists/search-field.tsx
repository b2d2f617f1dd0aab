import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import type { ApiError } from '../api/request.js'
import { asApiError } from '../basics/loading.js'
import { countText } from '../components/value.js'
import { untilTyped, type Option, type SearchOptions } from './choices.js'

type Props = {
  root?: (element: HTMLElement | null) => void
  /** Hears that the focus leaves the field. */
  left?: () => void
  label: ComponentChildren
  /** Puts the label before the field. */
  isBeside?: boolean
  /** What stands in the label after the field. */
  after?: ComponentChildren
  attributes?: { 'aria-label'?: string; 'aria-invalid'?: boolean | undefined; required?: boolean }
  /** The name of what is chosen. */
  text: string
  /** Options that are offered before those that are found. */
  first?: readonly Option[]
  search: SearchOptions
  choose: (option: Option) => void
  /** Gets what is typed, if any text is a value. */
  type?: (text: string) => void
}

/** The options that come at once. */
const optionsAtOnce = 50

/** The answer to a search: its text, the options, and the number of all that fit. */
type Answer = { sought: string; options: readonly Option[]; all: number }

/** Searches options, one text at a time: the answer to an earlier one is dropped. */
const useSearch = (search: SearchOptions) => {
  const answer = useSignal<Answer | undefined>(undefined)
  const error = useSignal<ApiError | undefined>(undefined)
  const asking = useRef<{ what: string; aborting: AbortController; answered: Promise<Answer | undefined> } | undefined>(undefined)
  const find = async (sought: string, most: number, signal: AbortSignal): Promise<Answer | undefined> => {
    try {
      await untilTyped(sought, signal)
      const found = await search(sought, most, signal)
      if (signal.aborted) return undefined
      error.value = undefined
      answer.value = { ...found, sought }
      return answer.value
    } catch (refused) {
      if (!signal.aborted) error.value = asApiError(refused)
      return undefined
    } finally {
      if (!signal.aborted) asking.current = undefined
    }
  }
  /** Asks for the options of a text, unless that is asked already. */
  const ask = (text: string, most = optionsAtOnce): Promise<Answer | undefined> => {
    const sought = text.trim()
    const what = `${most} ${sought}`
    if (asking.current?.what === what) return asking.current.answered
    asking.current?.aborting.abort()
    const aborting = new AbortController()
    const answered = find(sought, most, aborting.signal)
    asking.current = { what, aborting, answered }
    return answered
  }
  useLayoutEffect(() => () => asking.current?.aborting.abort(), [])
  const forget = () => (answer.value = undefined)
  return { answer: answer.value, error: error.value, ask, forget }
}

/**
 * A text field that proposes the options whose names have its text in them, by the pattern of a combobox: arrow keys move between them,
 * and at the last one more come.
 *
 * @example <SearchField label="Agent" text={agent} search={search} choose={choose} />
 */
export const SearchField = (props: Props) => {
  const { root, left: leave, label, isBeside = false, after, attributes = {}, text, first = [], search, choose, type } = props
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLUListElement>(null)
  /** What is typed to find an option; undefined while no options are shown. */
  const typed = useSignal<string | undefined>(undefined)
  /** The place of the option that Enter takes before the user goes to one. Where any text is a value, it is none. */
  const beginning = type ? -1 : 0
  /** The option that the user went to. The answer to what is typed may move it, or not have it any more. */
  const wentTo = useSignal<string | undefined>(undefined)
  const { answer, error, ask, forget } = useSearch(search)
  const isOpen = typed.value !== undefined
  // What is typed next does not go on in the name of what is chosen.
  useLayoutEffect(() => {
    if (!isOpen && !type && document.activeElement === input.current) input.current?.select()
  }, [isOpen])
  const sought = (typed.value ?? '').trim()
  const options = [...(sought === '' ? first : []), ...(answer?.options ?? [])]
  const place = wentTo.value === undefined ? -1 : options.findIndex(({ value }) => value === wentTo.value)
  const at = place < 0 ? beginning : place
  const isAnswered = answer?.sought === sought
  const left = isAnswered ? answer.all - answer.options.length : 0
  const open = (wanted: string) => {
    // What was found before may have changed since.
    if (!isOpen) forget()
    typed.value = wanted
    wentTo.value = undefined
    list.current?.scrollTo(0, 0)
    void ask(wanted)
  }
  const close = () => (typed.value = undefined)
  const take = (option: Option | undefined) => {
    if (!option) return
    close()
    choose(option)
  }
  const takeChosen = async () => {
    const isSeen = at !== beginning || (sought === '' && first.length > 0)
    if (isAnswered || isSeen) {
      take(options[at])
      return
    }
    // Someone who types quickly means the option that comes first once the search is answered.
    const found = await ask(sought)
    if (found && typed.peek()?.trim() === found.sought) take(found.options[0])
  }
  const more = () => {
    if (left > 0) void ask(sought, (answer?.options.length ?? 0) + optionsAtOnce)
  }
  const go = (to: number) => {
    if (to >= options.length) more()
    const next = Math.max(beginning, Math.min(options.length - 1, to))
    wentTo.value = options[next]?.value
    list.current?.children[next]?.scrollIntoView({ block: 'nearest' })
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.isComposing) return
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (isOpen) go(at + (event.key === 'ArrowDown' ? 1 : -1))
      else open(type ? text : '')
    } else if (event.key === 'Enter' && isOpen && at >= 0) void takeChosen()
    else if (event.key === 'Escape' && isOpen) close()
    else return
    event.preventDefault()
  }
  const said =
    options.length === 0
      ? isAnswered
        ? 'Nothing has this name.'
        : error
          ? ''
          : 'Looking…'
      : left > 0
        ? `${countText(answer?.options.length ?? 0)} of ${countText(answer?.all ?? 0)} are shown. Type a part of the name.`
        : ''
  return (
    <div ref={root ?? null} class="search-field" onFocusOut={leave}>
      <label class={isBeside ? 'inline' : undefined}>
        {label}
        <input
          {...attributes}
          ref={input}
          type="text"
          role="combobox"
          autocomplete="off"
          aria-autocomplete="list"
          aria-expanded={isOpen}
          aria-controls={`${id}-options`}
          aria-activedescendant={isOpen && at >= 0 && options.length > 0 ? `${id}-${at}` : undefined}
          placeholder={type ? undefined : text}
          value={type ? text : (typed.value ?? text)}
          onFocus={({ currentTarget }) => currentTarget.select()}
          onClick={() => !isOpen && open(type ? text : '')}
          onInput={({ currentTarget: { value } }) => {
            type?.(value)
            open(value)
          }}
          onKeyDown={onKey}
          onBlur={close}
        />
        {after}
      </label>
      {isOpen && (
        // A press beside an option must not take the focus from the field.
        <div class="offered" onMouseDown={(event) => event.preventDefault()}>
          <ul
            ref={list}
            id={`${id}-options`}
            role="listbox"
            aria-label="Options"
            onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) =>
              scrollTop + clientHeight >= scrollHeight - 1 && more()
            }
          >
            {options.map((option, i) => (
              <li key={option.value} id={`${id}-${i}`} role="option" aria-selected={i === at} onClick={() => take(option)}>
                {option.text}
              </li>
            ))}
          </ul>
          {error && (
            <p class="bad" role="alert">
              {error.message}
            </p>
          )}
          <p class="quiet" role="status">
            {said}
          </p>
        </div>
      )}
    </div>
  )
}
