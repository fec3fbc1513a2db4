// `npm run fuzz:evm -- [--seed N] [--count N] [--fork NAME] [--most N]`: compares our interpreter with @ethereumjs/evm
// on random worlds from a seed on, until `--most` differ. One that does is run again with `--seed SEED --count 1 --fork
// FORK`.
import { parseArgs } from 'node:util'
import type { Fork } from '../../src/chain/eth/forks/rules.js'
import { createFuzzer, forkOfSeed } from './fuzz.js'
import { FUZZED_FORKS } from './generate.js'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '1000' },
    fork: { type: 'string' },
    most: { type: 'string', default: '10' },
  },
})
const first = integerOf('seed', values.seed)
const count = integerOf('count', values.count)
const most = integerOf('most', values.most)
const fork = forkOf(values.fork)
const fuzzer = await createFuzzer()
let findings = 0
const began = performance.now()
for (let seed = first; seed < first + count && findings < most; seed++) {
  const finding = await fuzzer.compare(seed, fork ?? forkOfSeed(seed))
  if (finding === undefined) continue
  findings++
  console.log(`seed ${seed}, fork ${finding.fork}: ${finding.difference}\n`)
}
const { worlds, transactions, programs } = fuzzer.counts()
const seconds = ((performance.now() - began) / 1000).toFixed(1)
console.log(
  `seed ${first}, ${fork ?? 'all forks'}: ${worlds} worlds with ${transactions} transactions and ${programs} programs ` +
    `compared, ${findings} differences, ${seconds} s`,
)
process.exitCode = findings === 0 ? 0 : 1

function integerOf(name: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  return refuse(`--${name}: expected a whole number, got ${JSON.stringify(text)}`)
}

function forkOf(name: string | undefined): Fork | undefined {
  if (name === undefined) return undefined
  const found = FUZZED_FORKS.find((known) => known === name)
  return found ?? refuse(`--fork: expected one of ${FUZZED_FORKS.join(', ')}, got ${JSON.stringify(name)}`)
}

function refuse(message: string): never {
  console.error(message)
  process.exit(2)
}
