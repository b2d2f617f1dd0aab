import { computed, signal } from '@preact/signals'
import { createRef } from 'preact'
import { isMadeByForm, kinds, listResources, pathOfResource } from '../basics/kinds.js'
import { countText } from '../components/value.js'
import { otherPages, sections } from './pages.js'
import { hrefOf, momentShown, pathOf } from '../basics/place.js'

type Target = { name: string; about: string; href: string }

const dialog = createRef<HTMLDialogElement>()
const list = createRef<HTMLUListElement>()
const wanted = signal('')
const resources = signal<Target[]>([])
const chosen = signal(0)

/** The most entries that are shown; more words narrow the search. */
const shownMax = 30

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
  const text = wanted.value.toLowerCase().trim()
  const words = text.split(/\s+/).filter(Boolean)
  const fits = ({ name, about }: Target) => words.every((word) => `${name} ${about}`.toLowerCase().includes(word))
  return [...pages(), ...resources.value, ...lists()].filter(fits).toSorted((a, b) => rankOf(a, text) - rankOf(b, text))
})

const found = computed(() => matches.value.slice(0, shownMax))

const loadResources = async (): Promise<void> => {
  // If the resources cannot be loaded, the menu still finds the pages.
  const all = await listResources(momentShown(), new AbortController().signal).catch(() => [])
  resources.value = all.map(({ kind, project, name }) => {
    const word = kind === 'database' ? 'connection' : kind.replace('_', ' ')
    return { name, about: project === null ? word : `${word} of ${project}`, href: hrefOf(pathOfResource(kind, project, name)) }
  })
}

/** Opens the menu at once, so that the next typed characters go to it. */
export const openJumpMenu = (): void => {
  wanted.value = ''
  dialog.current?.showModal()
  choose(0)
  void loadResources()
}

addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
  event.preventDefault()
  if (dialog.current?.open === true) dialog.current.close()
  else openJumpMenu()
})

const follow = (target: Target | undefined): void => {
  if (!target) return
  dialog.current?.close()
  location.hash = target.href
}

/** Chooses an entry by keys, and scrolls to it. */
const choose = (at: number): void => {
  chosen.value = Math.max(0, Math.min(found.value.length - 1, at))
  list.current?.children[chosen.value]?.scrollIntoView({ block: 'nearest' })
}

const onKey = (event: KeyboardEvent): void => {
  if (event.key === 'ArrowDown') choose(chosen.value + 1)
  else if (event.key === 'ArrowUp') choose(chosen.value - 1)
  else if (event.key === 'Enter') follow(found.value[chosen.value])
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
      }}
      onKeyDown={onKey}
    />
    <ul ref={list} id="jump-targets" role="listbox" aria-label="Pages and resources">
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
      {found.value.length === 0
        ? 'Nothing has this name.'
        : matches.value.length > shownMax
          ? `${shownMax} of ${countText(matches.value.length)} are shown. More words narrow the search.`
          : ''}
    </p>
  </dialog>
)
