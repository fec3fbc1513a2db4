import { formatData } from '../../lib/hex.js'
import type { Cell, Column } from '../columns.js'
import type { RowEncoder } from './rowEncoder.js'
import { createTextEncoder } from './text.js'

/** Creates an encoder of one JSON object per line, with all columns. Integers are JSON numbers of any size. */
export function createNdjsonEncoder(columns: readonly Column[]): RowEncoder {
  const names = columns.map(({ name }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  return createTextEncoder('', (row) => {
    let line = ''
    for (let i = 0; i < names.length; i++) line += names[i] + formatCell(row[i])
    return `${line}}\n`
  })
}

function formatCell(cell: Cell): string {
  if (typeof cell === 'string') return JSON.stringify(cell)
  return cell instanceof Uint8Array ? `"${formatData(cell)}"` : String(cell)
}
