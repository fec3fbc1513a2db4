import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { formatSizingPage } from '../../tools/sizing/sizingPage.js'

test('the sizing page has the tables that npm run sizing prints', () => {
  const page = readFileSync(packagePath('docs/sizing.md'), 'utf8')
  assert.equal(page, formatSizingPage(), 'run npm run docs')
  assert.match(page, /^\| mainnet, \d{4}-\d\d-\d\d \| none \|/m)
})
