import { computed, signal } from '@preact/signals'
import { createRef } from 'preact'
import { rest } from '../api/away.js'
import { isCommand } from '../basics/keys.js'
import { isMadeByForm, kinds, pathOfResource } from '../basics/kinds.js'
import { countText } from '../components/value.js'
import { searchResources, wordsOf } from './jump-search.js'
import { otherPages, sections } from './pages.js'
import { hrefOf, momentShown, pathOf } from '../basics/place.js'

type Target = { name: string; about: string; href: string }

const dialog = createRef<HTMLDialogElement>()
const list = createRef<HTMLUListElement>()
const wanted = signal('')
/** The entries that are shown at once, and that come in addition at the end of the list. */
const entriesAtOnce = 30

type Searched = {
  text: string | undefined
  /** The first resources that fit, as many as entries are shown. */
  found: Target[]
  /** The number of all resources that fit. */
  count: number
  /** The most entries that are shown. */
  most: number
}

/** The answer to the last search. */
const resources = signal<Searched>({ text: undefined, found: [], count: 0, most: entriesAtOnce })
const chosen = signal(0)

const pages = (): Target[] => [...sections, ...otherPages].map(({ path, name }) => ({ name, about: 'page', href: hrefOf(path) }))

const lists = (): Target[] => [
  ...kinds.map(({ kind, title }) => ({ name: title, about: 'list', href: hrefOf(pathOf('resources', kind)) })),
  ...kinds
    .filter(isMadeByForm)
    .map(({ kind }) => ({ name: `New ${kind.replace('_', ' ')}`, about: 'form', href: hrefOf(pathOf('new', kind)) })),
]

/** The order of entries: names that are the text first, then names that begin with it. */
const rankOf = ({ name }: Target, text: string): number => {
  const own = name.toLowerCase()
  return own === text ? 0 : own.startsWith(text) ? 1 : 2
}

const matches = computed<Target[]>(() => {
  const words = wordsOf(wanted.value)
  const text = wanted.value.toLowerCase().trim()
  const fits = ({ name, about }: Target) => words.every((word) => `${name} ${about}`.toLowerCase().includes(word))
  const all = [...pages(), ...resources.value.found, ...lists()]
  return all.filter(fits).toSorted((a, b) => rankOf(a, text) - rankOf(b, text))
})

const found = computed(() => matches.value.slice(0, resources.value.most))

const isAnswered = computed(() => resources.value.text === wanted.value)

/** The number of entries that fit, with those that are not loaded. */
const count = computed(() => {
  const unloaded = isAnswered.value ? resources.value.count - resources.value.found.length : 0
  return matches.value.length + unloaded
})

let searching = new AbortController()
let searched: Promise<void> = Promise.resolve()
/** The most entries of the search that is under way, or was the last one. */
let asked = entriesAtOnce

/** Searches the resources for the text of now. The entry that keys have chosen stays chosen where the answer moves it. */
const search = async (most = entriesAtOnce): Promise<void> => {
  asked = most
  searching.abort()
  searching = new AbortController()
  const { signal: aborted } = searching
  try {
    const text = wanted.peek()
    const answer = await searchResources(text, most, momentShown(), aborted)
    const before = chosen.peek()
    const wasAt = found.peek()[before]?.href
    const targets = answer.found.map(({ kind, project, name, about }) => ({
      name,
      about,
      href: hrefOf(pathOfResource(kind, project, name)),
    }))
    resources.value = { text, found: targets, count: answer.count, most }
    const isAt = found.value.findIndex(({ href }) => href === wasAt)
    choose(before === 0 || isAt < 0 ? before : isAt)
  } catch {
    // If the resources cannot be searched, the menu still finds the pages.
    if (!aborted.aborted) asked = resources.peek().most
  }
}

/** Loads further entries, which come after those that are there. */
const more = (): void => {
  const next = resources.peek().most + entriesAtOnce
  if (!isAnswered.peek() || count.peek() <= found.peek().length || asked === next) return
  searched = search(next)
}

/** The longest wait for an answer, in ms, before an entry that is there already is followed. */
const patienceMs = 500

/** Opens the menu at once, so that the next typed characters go to it. */
export const openJumpMenu = (): void => {
  wanted.value = ''
  dialog.current?.showModal()
  choose(0)
  searched = search()
}

// A key that was handled, as by the editor, does nothing else.
addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.key.toLowerCase() !== 'k' || !isCommand(event) || event.shiftKey || event.altKey) return
  event.preventDefault()
  if (dialog.current?.open === true) dialog.current.close()
  else openJumpMenu()
})

const follow = (target: Target | undefined): void => {
  if (!target) return
  dialog.current?.close()
  location.hash = target.href
}

/** Follows the chosen entry. Someone who types quickly means the entry that comes first once the search is answered. */
const followChosen = async (): Promise<void> => {
  await (found.value.length === 0 ? searched : Promise.race([searched, rest(patienceMs, new AbortController().signal)]))
  if (dialog.current?.open === true) follow(found.value[chosen.value])
}

/** Chooses an entry by keys, and scrolls to it. */
const choose = (at: number): void => {
  chosen.value = Math.max(0, Math.min(found.value.length - 1, at))
  list.current?.children[chosen.value]?.scrollIntoView({ block: 'nearest' })
}

const onKey = (event: KeyboardEvent): void => {
  if (event.key === 'ArrowDown') {
    if (chosen.value >= found.value.length - 1) more()
    choose(chosen.value + 1)
  } else if (event.key === 'ArrowUp') choose(chosen.value - 1)
  else if (event.key === 'Enter') void followChosen()
  else return
  event.preventDefault()
}

/** Finds every page and every resource by a part of its name. */
export const JumpMenu = () => (
  <dialog ref={dialog} class="jump-menu" aria-label="Jump to a page or a resource">
    <input
      type="text"
      role="combobox"
      aria-label="Name of a page or a resource"
      aria-expanded="true"
      aria-controls="jump-targets"
      aria-activedescendant={found.value.length > 0 ? `jump-${chosen.value}` : undefined}
      value={wanted.value}
      onInput={({ currentTarget }) => {
        wanted.value = currentTarget.value
        choose(0)
        searched = search()
      }}
      onKeyDown={onKey}
    />
    <ul
      ref={list}
      id="jump-targets"
      role="listbox"
      aria-label="Pages and resources"
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => scrollTop + clientHeight >= scrollHeight - 1 && more()}
    >
      {found.value.map((target, i) => (
        <li
          key={target.href}
          id={`jump-${i}`}
          role="option"
          aria-selected={i === chosen.value}
          onMouseMove={() => (chosen.value = i)}
          onClick={() => follow(target)}
        >
          {target.name} <span class="quiet">{target.about}</span>
        </li>
      ))}
    </ul>
    <p class="quiet" role="status">
      {found.value.length === 0 && isAnswered.value
        ? 'Nothing has this name.'
        : count.value > found.value.length
          ? `${countText(found.value.length)} of ${countText(count.value)} are shown. More words narrow the search. At the end more come.`
          : ''}
    </p>
  </dialog>
)
