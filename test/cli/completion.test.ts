import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { formatCompletion, operandsOf, optionValues, SHELLS } from '../../src/cli/completion.js'
import { listOptions } from '../../src/cli/config.js'
import { COMMANDS } from '../../src/cli/options/option.js'
import { runCairn, runCairnOk } from '../support/cairn.js'
import { temporaryDirectory } from '../support/temporary.js'

const without = (program: string) => (spawnSync(program, ['-c', 'true']).error ? `no ${program} on the PATH` : false)

/** Completes each of the lines in a real bash, as readline splits them, in the directory. */
function completeInBash(lines: readonly (readonly string[])[], cwd: string): string[][] {
  const calls = lines.map((words) => {
    const quoted = words.map((word) => `'${word}'`).join(' ')
    return `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _cairn; printf '%s|' "\${COMPREPLY[@]}"; echo`
  })
  const script = [formatCompletion('bash'), 'complete -p cairn >&2', ...calls].join('\n')
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { cwd, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  assert.match(stderr, /complete -F _cairn cairn/)
  const replies = stdout.split('\n').slice(0, -1)
  assert.equal(replies.length, lines.length)
  return replies.map((line) => line.split('|').filter((word) => word !== ''))
}

test('bash completes commands, options, values and paths', { skip: without('bash') }, (t) => {
  const cwd = temporaryDirectory(t)
  mkdirSync(join(cwd, 'folder'))
  writeFileSync(join(cwd, 'file.rlp'), '')
  writeFileSync(join(cwd, 'two words.rlp'), '')
  const cases: [string[], string[]][] = [
    [['cairn', 'ser'], ['serve']],
    [['cairn', 'st'], ['status']],
    [
      ['cairn', 'serve', '--max-f'],
      ['--max-filter-params', '--max-filters'],
    ],
    [['cairn', 'status', '--por'], []],
    [
      ['cairn', 'sync', '--state', ''],
      ['execute', 'none', 'sparse'],
    ],
    [['cairn', 'sync', '--state', '=', 's'], ['sparse']],
    [
      ['cairn', 'sync', '--state', '='],
      ['execute', 'none', 'sparse'],
    ],
    [
      ['cairn', 'export', '--format', ''],
      ['csv', 'ere', 'ndjson', 'parquet'],
    ],
    [
      ['cairn', 'sql', '--format', ''],
      ['csv', 'json', 'ndjson', 'table'],
    ],
    [['cairn', 'serve', '--port', ''], []],
    [['cairn', 'serve', '--datadir', ''], ['folder']],
    [
      ['cairn', 'import', '--genesis', 'f'],
      ['file.rlp', 'folder'],
    ],
    [['cairn', 'import', 'fi'], ['file.rlp']],
    [['cairn', 'import', 'two'], ['two words.rlp']],
    [['cairn', 'import', '--at', 'two'], ['two words.rlp']],
    [['cairn', 'keys', 'import', 'fi'], ['file.rlp']],
    [['cairn', 'status', ''], []],
    [
      ['cairn', 'completion', ''],
      ['bash', 'fish', 'zsh'],
    ],
    [
      ['cairn', 'snapshot', ''],
      ['create', 'list', 'restore'],
    ],
    [
      ['cairn', 'help', 'ver'],
      ['verify', 'version'],
    ],
    [['cairn', 'nonsense', '--'], []],
  ]
  const replies = completeInBash(
    cases.map(([words]) => words),
    cwd,
  )
  for (const [i, [words, expected]] of cases.entries()) {
    assert.deepEqual(replies[i].toSorted(), expected.toSorted(), words.join(' '))
  }
})

test('bash has every option of every command, and each value is accepted', { skip: without('bash') }, (t) => {
  const replies = completeInBash(
    COMMANDS.map((command) => ['cairn', command, '--']),
    temporaryDirectory(t),
  )
  const options = listOptions().map(([, option]) => option)
  for (const [i, command] of COMMANDS.entries()) {
    const own = options.filter(({ commands }) => commands.includes(command)).map(({ flag }) => `--${flag}`)
    assert.deepEqual(replies[i].toSorted(), [...own, '--help'].toSorted(), command)
  }
  for (const option of options) {
    const values = optionValues(option)
    if (!Array.isArray(values)) continue
    for (const value of values) option.parse(value)
  }
})

test('each action that completes a command is one of the program', async (t) => {
  const datadir = join(temporaryDirectory(t), 'none')
  for (const command of ['keys', 'abi', 'snapshot'] as const) {
    const actions = operandsOf(command)
    assert.ok(Array.isArray(actions) && actions.length >= 3, command)
    for (const action of actions) {
      const { stderr } = await runCairn([command, action, '--datadir', datadir])
      assert.doesNotMatch(stderr, /unknown|did you mean/, `${command} ${action}`)
    }
  }
})

for (const shell of ['zsh', 'fish'] as const) {
  test(`the script for ${shell} has valid syntax`, { skip: without(shell) }, () => {
    const { status, stderr } = spawnSync(shell, ['--no-execute', '/dev/stdin'], {
      input: formatCompletion(shell),
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
  })
}

test('quotes are balanced, and every option is in every script', () => {
  for (const shell of SHELLS) {
    const text = formatCompletion(shell)
    for (const line of text.split('\n').filter((each) => !each.startsWith('#'))) {
      assert.equal(line.replaceAll("'\\''", '').split("'").length % 2, 1, line)
    }
    for (const [, { flag }] of listOptions()) {
      assert.ok(text.includes(shell === 'fish' ? ` -l ${flag} ` : `--${flag}`), `${shell}: ${flag}`)
    }
  }
})

test('the command prints the script of a shell, and names the likeliest one', async () => {
  assert.equal(await runCairnOk(['completion', 'zsh']), `${formatCompletion('zsh')}\n`)
  const { code, stderr } = await runCairn(['completion', 'bsh'])
  assert.deepEqual([code, stderr], [2, 'cairn: completion: expected bash, zsh, fish, got "bsh" (did you mean bash?)\n'])
  assert.equal((await runCairn(['completion'])).code, 2)
})
