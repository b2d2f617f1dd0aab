import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'

export type Tab = { id: string; name: string }

/**
 * The tab that an address asks for. It is the first one if that tab is not offered: keys reach the list only at its chosen tab.
 *
 * @example tabAmong([{ id: 'record', name: 'Record' }], 'edit') // 'record'
 */
export const tabAmong = (tabs: readonly Tab[], asked: string | null): string => (tabs.find(({ id }) => id === asked) ?? tabs[0])?.id ?? ''

type Props = { label: string; tabs: readonly Tab[]; chosen: string; choose: (id: string) => void; children: ComponentChildren }

/** Tabs by the pattern of WAI-ARIA: arrow keys move between them, and Tab reaches only the chosen one. */
export const Tabs = ({ label, tabs, chosen: asked, choose, children }: Props) => {
  const chosen = tabAmong(tabs, asked)
  const list = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = (tabs.findIndex(({ id }) => id === chosen) + step + tabs.length) % tabs.length
    choose(tabs[next]?.id ?? chosen)
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus()
  }
  return (
    <>
      <div ref={list} class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ id, name }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`tab-${id}`}
            aria-selected={id === chosen}
            aria-controls="tab-panel"
            tabIndex={id === chosen ? 0 : -1}
            onClick={() => choose(id)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${chosen}`} tabIndex={0}>
        {children}
      </div>
    </>
  )
}
