import { flag, list, type Option, text, type Values } from '../../bench/lib/options.js'
import type { GivenFigures } from './chains.js'
import { STATES } from './forecast.js'

function figure(about: string, least = 0): Option<number | undefined> {
  return {
    ...{ default: undefined, about },
    parse: (name, given) => {
      const value = Number(given)
      if (given.trim() === '' || !Number.isFinite(value) || value < least) {
        throw new Error(`--${name}: expected a number${least > 0 ? ' above 0' : ''}, got ${given}`)
      }
      return value
    },
  }
}

/** Options of `npm run sizing`. */
export const OPTIONS = {
  network: text('mainnet, sepolia, gnosis or base; all by default'),
  state: list(STATES, 'what the database has of the state', STATES),
  date: text('day of the forecast, YYYY-MM-DD; by default that of the published figures'),
  datadir: text('directory of a database whose bytes of a row are used instead of ours'),
  sources: flag('prints the figures that the forecast is made of, with their sources'),
  json: flag('prints JSON'),
  help: flag('prints this'),
  'block-seconds': figure('of a network, or without --network of a chain of your own', Number.MIN_VALUE),
  'transactions-per-day': figure('also of a chain of your own, as all that follow', Number.MIN_VALUE),
  'logs-per-day': figure("by default as many a transaction as mainnet's"),
  'accounts-per-day': figure('changes of accounts, an account once a block'),
  'slots-per-day': figure('changes of slots, a slot once a block'),
  blocks: figure('in all'),
  transactions: figure('in all'),
  logs: figure('in all'),
  accounts: figure('of the state'),
  slots: figure('of the state'),
} satisfies { readonly [flag: string]: Option<unknown> }

/** Returns the figures of a chain that the options have; undefined where they have none. */
export function givenFigures(values: Values<typeof OPTIONS>): GivenFigures | undefined {
  const { blocks, transactions, logs, accounts, slots } = values
  const given = {
    ...{ blocks, transactions, logs, accounts, slots },
    blockSeconds: values['block-seconds'],
    transactionsPerDay: values['transactions-per-day'],
    logsPerDay: values['logs-per-day'],
    changedAccountsPerDay: values['accounts-per-day'],
    changedSlotsPerDay: values['slots-per-day'],
  }
  return Object.values(given).some((value) => value !== undefined) ? given : undefined
}
