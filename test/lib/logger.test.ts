import assert from 'node:assert/strict'
import { readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { UsageError } from '../../src/lib/errors.js'
import { createLogger } from '../../src/lib/logger.js'
import { temporaryDirectory } from '../support/temporary.js'

test('a log file gets whole lines of every logger, also after it was truncated', (t) => {
  const file = join(temporaryDirectory(t), 'cairn.log')
  const read = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
  const first = createLogger({ level: 'info', file })
  const second = createLogger({ level: 'warn', file })
  first.info({ block: 1 }, 'one')
  second.info({}, 'too low')
  second.warn({}, 'two')
  assert.deepEqual(read(), ['one', 'two'])
  truncateSync(file) // as `copytruncate` of logrotate does
  first.error({}, 'three')
  assert.deepEqual(read(), ['three'])
  assert.equal(readFileSync(file).indexOf(0), -1, 'no hole before the line')
})

test('a log file that cannot be opened is wrong use, with its name and the reason', (t) => {
  const file = join(temporaryDirectory(t), 'missing', 'cairn.log')
  assert.throws(
    () => createLogger({ level: 'info', file }),
    (error) => error instanceof UsageError && error.message.startsWith(`--log-file ${file}: ENOENT`),
  )
})
