import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ALL_FORKS } from '../../src/chain/eth/forks/all.js'
import { packagePath } from '../../src/store/open.js'

const page = readFileSync(packagePath('docs/verification.md'), 'utf8')

/** The first cells under a heading, which are names of checks. */
function checksUnder(heading: string): Set<string> {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`))
  assert.ok(section, `no heading ${heading}`)
  return new Set(Array.from(section.matchAll(/^\| `([^`]+)` \|/gm), (match) => match[1]))
}

/** What the patterns' first groups find in a file of src. */
function namesIn(file: string, ...patterns: RegExp[]): string[] {
  const text = readFileSync(packagePath(`src/${file}`), 'utf8')
  const names = patterns.flatMap((pattern) => Array.from(text.matchAll(pattern), (match) => match[1]))
  assert.ok(names.length > 0, `no checks found in ${file}`)
  return names
}

test('the page names every check of a block, and no other', () => {
  const calls = /\b(?:refuse|requireEqual)\(\s*'([^']+)'/g
  const ofHeaders = ['sync/validate/header.ts', 'chain/eth/families/ethereum.ts']
  const names = new Set([...ofHeaders, 'chain/eth/verifyRoots.ts'].flatMap((file) => namesIn(file, calls)))
  for (const { label } of ALL_FORKS.headerFields) names.add(label)
  const body = readFileSync(packagePath('src/sync/validate/body.ts'), 'utf8')
  const start = body.indexOf('function verifyTransaction(')
  assert.ok(start > 0)
  for (const [, name] of body.slice(0, start).matchAll(calls)) names.add(name)
  for (const [, name] of body.slice(start).matchAll(calls)) names.add(`transaction N: ${name}`)
  for (const file of ['sync/pipeline.ts', 'sync/validate/acceptBlock.ts']) {
    for (const name of namesIn(file, /\brefusal\(block, '([^']+)'/g, /check: '([^']+)'/g)) names.add(name)
  }
  for (const name of namesIn('evm/transition/checkTransaction.ts', /rule: '([^']+)'/g))
    names.add(`transaction: ${name}`)
  names.add('transaction: intrinsic gas').add('transaction: transaction') // of evm/transition
  names.add('system call')
  names.add('uncle N').add('uncle N: parent hash').add('uncle N: …')
  assert.deepEqual([...checksUnder('Checks of a block')].toSorted(), [...names].toSorted())
})

test('the page of networks names every check of a family, and no other', () => {
  const networks = readFileSync(packagePath('docs/networks.md'), 'utf8').split(/^## /m).at(-1)!
  const listed = new Set(Array.from(networks.matchAll(/^\| `([^`]+)` \|/gm), (match) => match[1]))
  const calls = /\b(?:refuse|context\.refuse)\(\s*'([^']+)'/g
  const names = new Set<string>()
  for (const file of readdirSync(packagePath('src/chain/eth/families'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file === 'ethereum.ts') continue // its checks are those of every block
    const text = readFileSync(packagePath(`src/chain/eth/families/${file}`), 'utf8')
    for (const [, name] of text.matchAll(calls)) names.add(name)
    for (const [, name] of text.matchAll(/rule: '([^']+)'/g)) names.add(`transaction: ${name}`)
  }
  for (const name of ['transaction N: type', 'base fee']) names.add(name) // sync/validate asks the family
  assert.deepEqual([...listed].toSorted(), [...names].toSorted())
})

test('the page names every check of a layer-2 block, and no other', () => {
  const names = [
    ...namesIn(
      'chain/starknet/verify.ts',
      /\bdiffer\('([^']+)'/g,
      /Commitment: '([a-z ]+ commitment)'/g,
      /mismatchOf\('([^']+)'/g,
    ),
    ...namesIn('store/l2/l2Writer.ts', /refuse\(\s*block,\s*'([^']+)'/g, /refuse\(\s*block,\s*`([a-z ]+) \(/g),
    'transaction hash of receipt N',
  ]
  assert.deepEqual([...checksUnder('Layer 2')].toSorted(), [...new Set(names)].toSorted())
})

test('the page gives the ranges and names of the networks that cannot be verified', () => {
  for (const range of namesIn('chain/starknet/networks.ts', /unverifiable: \{ from: (\d+, to: \d+)/g)) {
    assert.ok(page.includes(range.replace(', to: ', ' to ')), range)
  }
})

test('the page names the official tests that are not run', () => {
  const text = readFileSync(packagePath('test/sync/blockchainTests.long.test.ts'), 'utf8')
  const names = Array.from(text.matchAll(/^ {6}'(\w+)',$/gm), (match) => match[1])
  assert.equal(names.length, 3)
  for (const name of names) assert.ok(page.includes(`\`${name}\``), name)
})
