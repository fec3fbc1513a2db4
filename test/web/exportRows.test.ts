import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatRows } from '../../src/web/exportRows.js'

const ROWS = [
  { block: 1, text: 'a,"b"\nc', topics: ['0x1'], none: null },
  { block: 2, text: '=HYPERLINK("x")', topics: [], none: undefined },
]

test('CSV quotes what must be quoted, and no value is a formula', () => {
  assert.equal(
    formatRows(ROWS, 'csv'),
    'block,text,topics,none\r\n1,"a,""b""\nc","[""0x1""]",\r\n2,"\'=HYPERLINK(""x"")",[],\r\n',
  )
})

test('NDJSON has an object a line, JSON one array', () => {
  const lines = formatRows(ROWS, 'ndjson').trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).block),
    [1, 2],
  )
  assert.deepEqual(JSON.parse(formatRows(ROWS, 'json')), JSON.parse(JSON.stringify(ROWS)))
  assert.equal(formatRows([], 'ndjson'), '')
})
