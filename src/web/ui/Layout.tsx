import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { cutMiddle } from '../format.js'
import { route } from '../routing.js'

interface ViewTitleProps {
  children: ComponentChildren
  actions?: ComponentChildren
  /** Shown beside the heading. */
  beside?: ComponentChildren
  /** The displayed item for the window title, such as a hash, unless the heading has it. */
  item?: string
}

/** The heading of a view. It receives the focus after navigation by a link, so that screen readers begin there. */
export function ViewTitle({ children, actions, beside, item: shown }: ViewTitleProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { view, item } = route.get()
  useEffect(() => {
    const text = heading.current?.textContent?.trim() ?? ''
    document.title = `${text}${shown ? ` ${shortenItem(shown)}` : ''} · Cairn`
  })
  useEffect(() => {
    if (wasShown) heading.current?.focus({ preventScroll: true })
    wasShown = true
    scrollTo({ top: 0 })
  }, [view, item])
  return (
    <div class="title">
      <h1 ref={heading} tabIndex={-1}>
        {children}
      </h1>
      {beside !== undefined && <span class="beside">{beside}</span>}
      {actions !== undefined && <div class="actions">{actions}</div>}
    </div>
  )
}

let wasShown = false

/** Truncates a hash in the middle, and other text at its end. */
function shortenItem(text: string): string {
  if (/^0x[\da-f]+$/i.test(text)) return cutMiddle(text)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** Names and values. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren] | false)[] }) {
  return (
    <dl class="facts">
      {facts.map((fact) => fact !== false && <Fact key={fact[0]} name={fact[0]} value={fact[1]} />)}
    </dl>
  )
}

function Fact({ name, value }: { name: string; value: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

/** A part of a view with its heading. */
export function Section({
  title,
  note,
  children,
}: {
  title: string
  note?: ComponentChildren
  children: ComponentChildren
}) {
  return (
    <section class="section">
      <div class="section-title">
        <h2>{title}</h2>
        {note !== undefined && <span class="quiet">{note}</span>}
      </div>
      {children}
    </section>
  )
}

/** A ref for a row of links that scrolls sideways on phones: it scrolls to the link of the current part. */
export function useCurrentInView(current: string) {
  const row = useRef<HTMLElement>(null)
  useEffect(() => {
    const link = row.current?.querySelector('[aria-current]')
    if (!row.current || !link) return
    const [of, all] = [link.getBoundingClientRect(), row.current.getBoundingClientRect()]
    row.current.scrollLeft += of.left - all.left - (all.width - of.width) / 2
  }, [current])
  return row
}

/** Links to the parts of a view. */
export function Tabs({
  label,
  tabs,
  current,
}: {
  label: string
  tabs: readonly (readonly [name: string, text: string, href: string])[]
  current: string
}) {
  return (
    <nav class="tabs" aria-label={label} ref={useCurrentInView(current)}>
      {tabs.map(([name, text, href]) => (
        <a key={name} href={href} aria-current={name === current ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  )
}

/** A column: its heading, whether it contains numbers, which are right-aligned, and whether it is left out on phones.
 *  */
type Column = string | { name: string; isNumber?: boolean; isWide?: boolean }

/** A table that scrolls on its own if too wide. The first cell of a row is its heading. */
export function Table(props: {
  caption: string
  columns: readonly Column[]
  rows: readonly (readonly ComponentChildren[])[]
}) {
  const { caption, columns, rows } = props
  const classOf = (i: number) => {
    const column = columns[i]
    if (typeof column === 'string') return undefined
    return [column.isNumber && 'number', column.isWide && 'wide'].filter(Boolean).join(' ') || undefined
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label={caption}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, i) => {
              const name = typeof column === 'string' ? column : column.name
              return (
                <th key={name} scope="col" class={classOf(i)}>
                  {name}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, i) =>
                i === 0 ? (
                  <th key={0} scope="row" class={classOf(0)}>
                    {cell}
                  </th>
                ) : (
                  <td key={i} class={classOf(i)}>
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
