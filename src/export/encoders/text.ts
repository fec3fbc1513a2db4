import type { Row } from '../columns.js'
import type { RowEncoder } from './rowEncoder.js'

const CHUNK = 2 ** 18

/** Creates an encoder of text that `format` produces line by line. */
export function createTextEncoder(header: string, format: (row: Row) => string): RowEncoder {
  let text = header
  const take = () => {
    const bytes = Buffer.from(text)
    text = ''
    return bytes
  }
  return {
    add: (row) => {
      text += format(row)
      return text.length < CHUNK ? undefined : take()
    },
    end: take,
  }
}
