// `node scripts/run.mjs tools/fuzz-chain/main [--seed N] [--count N] [--requests N] [--most N] [--only METHOD]
// [--bogota]`: builds random chains, serves each with Cairn and with the geth on the PATH, and prints where the answers
// differ.
import { parseArgs } from 'node:util'
import { compareSeed } from './compareSeed.js'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '1' },
    requests: { type: 'string', default: '4000' },
    most: { type: 'string', default: '3' },
    only: { type: 'string' },
    bogota: { type: 'boolean', default: false },
  },
})
const [first, count, requests, most] = (['seed', 'count', 'requests', 'most'] as const).map((name) => {
  if (!/^\d{1,9}$/.test(values[name])) {
    console.error(`--${name}: expected a whole number, got ${JSON.stringify(values[name])}`)
    process.exit(2)
  }
  return Number(values[name])
})
const last = values.bogota ? 'bogota' : 'amsterdam'
const counts = new Map<string, number>()
for (let seed = first; seed < first + count; seed++) {
  const began = performance.now()
  const { transactions, blocks, asked } = await compareSeed(
    seed,
    { requests, last, only: values.only },
    ({ request, differences, kind }) => {
      const shape = `${kind} ${differences[0].replace(/0x[0-9a-f]*|\d+/g, '')}`.slice(0, 120)
      const seen = (counts.get(shape) ?? 0) + 1
      counts.set(shape, seen)
      if (seen > most) return
      console.log(`seed ${seed}: ${request.method} ${JSON.stringify(request.params)}\n  ${differences.join('\n  ')}`)
    },
  )
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`seed ${seed}: ${blocks} blocks, ${transactions} transactions, ${asked} requests, ${seconds} s`)
}
const total = [...counts.values()].reduce((sum, each) => sum + each, 0)
for (const [shape, times] of [...counts].sort((a, b) => b[1] - a[1])) console.log(`${times} times ${shape}`)
console.log(`${total} differences`)
process.exitCode = total === 0 ? 0 : 1
