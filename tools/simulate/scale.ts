import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { printRow } from '../../bench/lib/table.js'
import { COSTS, type Cost, replaceCosts } from './costs.js'
import { simulate } from './model.js'

/* `npm run simulate:scale -- [OPTIONS]`: what a writer, three NATS servers, replicas and a load balancer have to do at
 * mainnet's rate and at 50 times that, from costs that were measured one by one. */

const MAINNET_SECONDS = 12

const { values } = parseArgs({
  options: {
    replicas: { type: 'string', default: '3' },
    'read-cores': { type: 'string', default: '3' },
    answers: { type: 'string', default: '5000' },
    blocks: { type: 'string', default: '20000' },
    rates: { type: 'string', default: '1,50' },
    seed: { type: 'string', default: '1' },
    /** JSON with other values: `{"applyMs": 6.5}`. */
    costs: { type: 'string' },
  },
})
const costs =
  values.costs === undefined ? COSTS : replaceCosts(JSON.parse(readFileSync(values.costs, 'utf8')), values.costs)
const [replicas, readCores, answersPerSecond, blocks, seed] = [
  ...[values.replicas, values['read-cores'], values.answers, values.blocks, values.seed],
].map(Number)
const rates = values.rates.split(',').map(Number)

const results = rates.map((rate) => {
  const plan = { blockSeconds: MAINNET_SECONDS / rate, blocks, replicas, readCores, answersPerSecond, seed }
  return simulate(costs, plan)
})
const digits = (value: number) => String(Number(value.toPrecision(3)))
const print = (rows: string[][]) => {
  for (const row of rows) printRow(row)
  console.log()
}

console.log('Costs\n')
print([
  ['cost', 'value', 'measured by'],
  ['---', '---', '---'],
  ...Object.values<Cost>(costs).map(({ what, value, unit, source }) => [what, `${value} ${unit}`, source]),
])
console.log(
  `${blocks} blocks; ${replicas} replicas with ${readCores} cores for reads, ${answersPerSecond} answers/s; seed ${seed}\n`,
)
const heads = rates.map((rate) => `${rate} × mainnet`)
const { stations } = results[0]
print([
  ['part', ...heads.flatMap((head) => [`use at ${head}`, 'load until it is always busy'])],
  ['---', ...heads.flatMap(() => ['---', '---'])],
  ...stations.map(({ name }) => [
    name,
    ...results.flatMap((result) => {
      const { utilisation, headroom } = result.stations.find((station) => station.name === name)!
      return [`${digits(100 * utilisation)} %`, `× ${digits(headroom)}`]
    }),
  ]),
])
print([
  ['after a block came to the writer', ...heads.flatMap((head) => [`p50 ms at ${head}`, 'p99 ms'])],
  ['---', ...heads.flatMap(() => ['---', '---'])],
  ...results[0].lags.map(({ name }, i) => [
    name,
    ...results.flatMap(({ lags }) => [digits(lags[i].p50Ms), digits(lags[i].p99Ms)]),
  ]),
  [
    'an answer, from the load balancer',
    ...results.flatMap(({ answers }) => [digits(answers.p50Ms), digits(answers.p99Ms)]),
  ],
])
print([
  ['growth', ...heads],
  ['---', ...heads.map(() => '---')],
  ['database, GB a day', ...results.map(({ growth }) => digits(growth.databaseGbPerDay))],
  ['database, TB a year', ...results.map(({ growth }) => digits(growth.databaseTbPerYear))],
  ['stream of 7 days on each NATS server, GB', ...results.map(({ growth }) => digits(growth.streamGb))],
  ['to each replica, Mbit/s', ...results.map(({ growth }) => digits(growth.toEachReplicaMbitPerSecond))],
])
for (const [i, { stations: busiest }] of results.entries()) {
  const blocksFirst = busiest.filter(({ name }) => !/read cores|balancer/.test(name))[0]
  console.log(
    `${heads[i]}: of what blocks pass, "${blocksFirst.name}" is busiest; it saturates at ` +
      `${digits(rates[i] * blocksFirst.headroom)} × mainnet's rate.`,
  )
}
