import { autocompletion, closeBrackets, closeBracketsKeymap, completeFromList, completionKeymap, ifNotIn } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { MySQL, sql } from '@codemirror/lang-sql'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { setDiagnostics } from '@codemirror/lint'
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search'
import type { EditorState } from '@codemirror/state'
import { Compartment, Prec } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { effect, type Signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { commandText } from '../../basics/keys.js'
import { functions } from './writing/functions.js'
import { columnsOf } from './writing/columns.js'
import { furtherNames } from './writing/further-names.js'
import type { KnownNames } from './writing/schema.js'

/** The place of an error in a statement: line and column from 1, as the service counts them. A character beyond 16 bits is one column. */
export type Fault = { line: number; column: number; message: string }

type Props = {
  /** The text. Typing changes it, and changes from elsewhere are shown. */
  text: Signal<string>
  /** The sheet of the text: a step back in the text must not lead to another sheet's. */
  sheet: number
  onRun: () => void
  names: KnownNames
  /** The database of names that are written without one. */
  db: string
  fault: Fault | undefined
}

/** Proposes functions at places where a name may begin. */
const functionNames = MySQL.language.data.of({
  autocomplete: ifNotIn(
    ['QuotedIdentifier', 'String', 'LineComment', 'BlockComment', '.'],
    completeFromList(functions.map((label) => ({ label, type: 'function' }))),
  ),
})

/** Colours come from the page, so that they follow its theme. */
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: tags.typeName, color: 'var(--code-type)' },
])

const look = EditorView.theme({
  '&': { height: '100%', fontSize: '13.5px', color: 'var(--text)', backgroundColor: 'var(--ground)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-gutters': { backgroundColor: 'var(--ground)', color: 'var(--quiet)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { backgroundColor: 'var(--selection) !important' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-placeholder': { color: 'var(--quiet)' },
})

const rangeOf = (state: EditorState, { line, column }: Fault): { from: number; to: number } => {
  const found = state.doc.line(Math.max(1, Math.min(line, state.doc.lines)))
  const before = Array.from(found.text).slice(0, column - 1)
  const from = found.from + before.join('').length
  const word = /^[\w.]+/.exec(state.doc.sliceString(from, found.to))?.[0].length ?? 1
  return { from, to: Math.min(state.doc.length, from + Math.max(1, word)) }
}

/** Keys that are held down run the statement once. */
const isHeldEnter = ({ key, repeat, ctrlKey, metaKey }: KeyboardEvent): boolean => key === 'Enter' && repeat && (ctrlKey || metaKey)

/** The hint for screen readers: in this field, Tab indents the text and does not move to the next control. */
const keys = `${commandText('Enter')} runs it. Tab indents. To leave the editor press Escape, then Tab.`

/**
 * An editor for SQL. It is in a shadow root, where the editor adds its styles through the CSS object model: the page's policy forbids
 * styles in the document itself.
 */
export const Editor = ({ text, sheet, onRun, names, db, fault }: Props) => {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | undefined>(undefined)
  const language = useRef(new Compartment())
  const steps = useRef(new Compartment())
  const latest = useRef({ onRun })
  latest.current = { onRun }
  const words = () => [
    sql({ dialect: MySQL, schema: names.schema, upperCaseKeywords: true }),
    MySQL.language.data.of({ autocomplete: columnsOf(names.schema, db) }),
    names.areMore ? MySQL.language.data.of({ autocomplete: furtherNames(names, db) }) : [],
  ]

  // The editor is there before its place is seen, so that the first click and the first key reach it.
  useLayoutEffect(() => {
    const element = host.current
    if (!element) return
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
    const run = () => {
      latest.current.onRun()
      return true
    }
    const editor = new EditorView({
      root,
      parent: root,
      doc: text.peek(),
      extensions: [
        ...[
          lineNumbers(),
          steps.current.of(history()),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
        ],
        ...[highlightSelectionMatches(), autocompletion(), syntaxHighlighting(colours), look, EditorView.lineWrapping],
        Prec.highest(EditorView.domEventHandlers({ keydown: isHeldEnter })),
        Prec.highest(keymap.of([{ key: 'Mod-Enter', run }])),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, indentWithTab]),
        language.current.of(words()),
        functionNames,
        placeholder(`SELECT … (${commandText('Enter')} runs it)`),
        EditorView.contentAttributes.of({ 'aria-label': 'SQL', 'aria-multiline': 'true', 'aria-description': keys }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) text.value = update.state.doc.toString()
        }),
      ],
    })
    view.current = editor
    return () => editor.destroy()
  }, [])

  // This runs at once, and an effect of a component runs when it is drawn: characters that are typed until then would be lost.
  useLayoutEffect(
    () =>
      effect(() => {
        const wanted = text.value
        const editor = view.current
        if (editor && editor.state.doc.toString() !== wanted)
          editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: wanted } })
      }),
    [text],
  )

  // This comes with the next frame: the editor would lose a key that it has not read yet.
  useEffect(() => {
    view.current?.dispatch({ effects: steps.current.reconfigure([]) })
    view.current?.dispatch({ effects: steps.current.reconfigure(history()) })
  }, [sheet])

  useEffect(() => {
    view.current?.dispatch({ effects: language.current.reconfigure(words()) })
  }, [names, db])

  useEffect(() => {
    const editor = view.current
    if (!editor) return
    const found = fault ? [{ ...rangeOf(editor.state, fault), severity: 'error' as const, message: fault.message }] : []
    editor.dispatch(setDiagnostics(editor.state, found))
  }, [fault])

  return <div ref={host} class="editor" />
}
