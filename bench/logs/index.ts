import { runBench } from '../lib/bench.js'
import { measureL2Events, printL2Events } from './l2Events.js'
import { measureLake } from './lake.js'
import { OPTIONS } from './options.js'
import {
  askAnvil,
  measureBulkReading,
  measureFilters,
  measureMixedLoad,
  measureResultSize,
  openFilled,
} from './phases.js'
import { measureQuestions, printQuestions } from './questions/measure.js'
import { printStream } from './stream.js'
import { printAnvil, printShapes } from './table.js'

/* `npm run bench:logs`: a synthetic chain of logs through the store's own writer and into other stores beside it, on
 * the same machine in the same run; then filters over HTTP. */

await runBench({
  name: 'logs',
  options: OPTIONS,
  phases: {
    fill: {
      about: 'bulk load, tip blocks and bytes per log',
      run: async (run) => (await run.once(openFilled)).report,
    },
    shapes: { about: 'latency of each filter', run: measureFilters, print: printShapes },
    anvil: {
      about: 'filters beside anvil, which has executed the same logs',
      isUsual: false,
      run: askAnvil,
      print: printAnvil,
    },
    tenThousand: { about: '10,000 results beside the same bytes from memory', run: measureResultSize },
    load: { about: 'many clients with mixed filters', run: measureMixedLoad },
    stream: {
      about: 'all logs by stream, by cursor, and out of DuckDB',
      isUsual: false,
      run: measureBulkReading,
      print: printStream,
    },
    lake: { about: 'export to Parquet, and analyst queries in SQLite and in DuckDB', isUsual: false, run: measureLake },
    questions: {
      about: 'the questions of docs/queries.md in `cairn sql`, and in DuckDB on exported files',
      isUsual: false,
      run: measureQuestions,
      print: printQuestions,
    },
    l2Events: {
      about: '`starknet_getEvents` over made-up layer-2 blocks',
      isUsual: false,
      run: measureL2Events,
      print: printL2Events,
    },
  },
})
