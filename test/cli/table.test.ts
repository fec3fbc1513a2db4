import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatTable } from '../../src/cli/table.js'

test('columns of a table are aligned, with nothing behind the last cell of a row', () => {
  const rows = [
    ['ID', 'NAME', 'NOTE'],
    ['1', 'a long name', ''],
    ['10', 'x', 'y'],
  ]
  assert.equal(formatTable(rows), 'ID  NAME         NOTE\n1   a long name\n10  x            y')
  assert.equal(formatTable([]), '')
})
