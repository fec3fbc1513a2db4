import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { formatConfigurationPage } from '../../src/cli/configurationPage.js'
import { formatMethodsPage } from '../../src/rpc/methodsPage.js'
import { packagePath } from '../../src/store/open.js'

const STALE = 'the page is not current: npm run docs'

test('docs/configuration.md is made from the configuration table', () => {
  assert.ok(readFileSync(packagePath('docs/configuration.md'), 'utf8') === formatConfigurationPage(), STALE)
})

test('docs/methods.md is made from the methods', () => {
  assert.ok(readFileSync(packagePath('docs/methods.md'), 'utf8') === formatMethodsPage(), STALE)
})
