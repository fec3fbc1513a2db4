import { useState } from 'preact/hooks'
import { runQuery } from '../client/sql.js'

/** Views, those of `cairn sql` and POST /sql alone included, with their columns. */
const SCHEMA_QUERY = `SELECT v.name AS view, c.name AS column
FROM (SELECT name FROM sqlite_schema WHERE type = 'view' UNION SELECT name FROM sqlite_temp_schema WHERE type = 'view') v
JOIN pragma_table_info(v.name) c ORDER BY v.name, c.cid`

type Schema = ReadonlyMap<string, readonly string[]>

/** The views and their columns, loaded when it is unfolded. A choice is inserted into the query. */
export function SqlSchema({ onChoose }: { onChoose: (text: string) => void }) {
  const [schema, setSchema] = useState<Schema | string | undefined>()
  const load = async () => {
    if (schema instanceof Map) return
    const { rows, error, isOff } = await runQuery(SCHEMA_QUERY, new AbortController().signal, () => {})
    if (isOff || error !== undefined) return setSchema(error ?? 'SQL is off on this server')
    const views = new Map<string, string[]>()
    for (const { view, column } of rows as readonly { view: string; column: string }[])
      views.set(view, [...(views.get(view) ?? []), column])
    setSchema(views)
  }
  return (
    <details onToggle={(event) => event.currentTarget.open && void load()}>
      <summary>Schema</summary>
      {schema === undefined && <p class="quiet">Loading the schema …</p>}
      {typeof schema === 'string' && <p class="bad-text">{schema}</p>}
      {typeof schema === 'object' && (
        <div class="schema">
          {[...schema].map(([view, columns]) => (
            <details key={view}>
              <summary>
                <code>{view}</code>
              </summary>
              <p class="examples">
                <button type="button" class="link" onClick={() => onChoose(view)}>
                  insert the name
                </button>
                {columns.map((column) => (
                  <button key={column} type="button" class="link" onClick={() => onChoose(quoteName(column))}>
                    <code>{column}</code>
                  </button>
                ))}
              </p>
            </details>
          ))}
        </div>
      )}
    </details>
  )
}

/** Quotes a column that is a keyword or no plain name. */
function quoteName(name: string): string {
  return /^[a-z_]\w*$/.test(name) && !['from', 'to', 'index', 'type'].includes(name)
    ? name
    : `"${name.replaceAll('"', '""')}"`
}
