/** A sentence of the reference page: Markdown with code spans only. */
export function Prose({ markdown }: { markdown: string }) {
  return <>{markdown.split('`').map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>
}
