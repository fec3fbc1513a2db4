import { describeOptions, parseOptions, type Values } from '../../bench/lib/options.js'
import { messageOf } from '../../src/lib/errors.js'
import { createOwnChain, extrapolate, replaceFigures } from './chains.js'
import { COSTS, type Costs } from './costs.js'
import { forecast } from './forecast.js'
import { NETWORKS, type Network, requireNetwork } from './networks.js'
import { givenFigures, OPTIONS } from './options.js'
import { readPartSizes, replaceBytes } from './ownCosts.js'
import { formatCosts, formatCounts, formatForecasts, formatNotes } from './tables.js'

/* `npm run sizing -- [OPTIONS]`: disk, memory, written bytes and days until the head of a database of a public network
 * or of a chain of one's own, from measured costs and published figures. */

const USAGE = `npm run sizing -- [options]\n${describeOptions(OPTIONS)}`

try {
  const values = parseOptions(process.argv.slice(2), OPTIONS)
  console.log(values.help ? USAGE : describe(values))
} catch (error) {
  console.error(`${messageOf(error)}\n${USAGE}`)
  process.exitCode = 2
}

function describe(values: Values<typeof OPTIONS>): string {
  const networks = chooseNetworks(values)
  const costs = chooseCosts(values.datadir)
  const forecasts = networks.flatMap((network) => values.state.map((state) => forecast(network, state, costs)))
  if (values.json) return JSON.stringify({ forecasts, networks, costs }, null, 2)
  const tables = [formatForecasts(forecasts), formatNotes(networks)]
  if (values.sources) tables.push(formatCounts(networks), formatCosts(costs))
  return tables
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

function chooseNetworks(values: Values<typeof OPTIONS>): readonly Network[] {
  const named = values.network === undefined ? NETWORKS : [requireNetwork(values.network)]
  const given = givenFigures(values)
  const chosen =
    given === undefined ? named : [values.network ? replaceFigures(named[0], given) : createOwnChain(given)]
  const { date } = values
  return date === undefined ? chosen : chosen.map((network) => extrapolate(network, date))
}

function chooseCosts(datadir: string | undefined): Costs {
  if (datadir === undefined) return COSTS
  return replaceBytes(COSTS, readPartSizes(datadir), `cairn status --sizes --json, ${datadir}`)
}
