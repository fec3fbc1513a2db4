import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { COMMAND_DOCS } from '../../src/cli/commandDocs.js'
import { listOptions } from '../../src/cli/config.js'
import { formatManPage } from '../../src/cli/manPage.js'
import { COMMANDS, envName } from '../../src/cli/options/option.js'
import { packagePath } from '../../src/store/open.js'

const PATH = packagePath('docs/man/cairn.1')
const skipWithout = (program: string) => (spawnSync(program, ['--version']).error ? `no ${program} on the PATH` : false)

test('docs/man/cairn.1 is made from the option tables, and package.json names it', () => {
  assert.ok(readFileSync(PATH, 'utf8') === formatManPage(), 'the page is not current: npm run docs')
  const { man } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { man: string }
  assert.equal(packagePath(man), PATH)
})

test('groff formats the page without a warning, with every command and option', { skip: skipWithout('groff') }, () => {
  const args = ['-man', '-ww', '-Tascii', '-P-c', '-rLL=2000n', PATH]
  const { status, stdout, stderr } = spawnSync('groff', args, { encoding: 'utf8' })
  assert.deepEqual([status, stderr], [0, ''])
  // Bold and underlined characters are struck twice.
  const shown = stdout.replace(/.[\b]/g, '')
  for (const command of COMMANDS) {
    for (const line of COMMAND_DOCS[command].usage) assert.ok(shown.includes(line), line)
  }
  for (const [, option] of listOptions()) {
    const value = option.placeholder === undefined ? '' : ` ${option.placeholder}`
    assert.ok(shown.includes(`--${option.flag}${value}\n`) || shown.includes(`--${option.flag}${value} `), option.flag)
    assert.ok(shown.includes(`Environment: ${envName(option)}.`), option.flag)
  }
})

test('man shows the page', { skip: skipWithout('man') || skipWithout('groff') }, () => {
  const { status, stdout, stderr } = spawnSync('man', ['--warnings', '-P', 'cat', '-l', PATH], { encoding: 'utf8' })
  assert.deepEqual([status, stderr], [0, ''])
  assert.match(stdout.replace(/.[\b]/g, ''), /a chain indexer and JSON-RPC server/)
})
