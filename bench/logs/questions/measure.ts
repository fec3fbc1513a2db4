import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { createDatabaseSession } from '../../../src/cli/sql/session.js'
import { packagePath } from '../../../src/store/open.js'
import { quantile } from '../../lib/client.js'
import { printTable } from '../../lib/table.js'
import { exportDataset } from '../exportDataset.js'
import type { LogsRun } from '../options.js'
import { areSameRows } from '../sameRows.js'
import { makeQuestionChain, type QuestionChain } from './chain.js'
import { duckDbStatements } from './statements.js'

const DATASETS = [
  ...['blocks', 'transactions', 'receipts', 'logs', 'erc20-transfers', 'erc721-transfers', 'native-transfers'],
  ...['contracts', 'balances', 'nonces', 'codes', 'slots', 'withdrawals'],
]
const MOST_RUNS = 5

/** A question: medians of milliseconds, and the rows of the answer. */
export interface QuestionFigures {
  readonly question: string
  readonly rows: number
  readonly cairnMs: number
  /** Undefined where no dataset has what the answer needs. */
  readonly duckDbMs?: number
  readonly ratio?: number
  /** True where DuckDB's answer has the same cells; else it has as many rows in another form. */
  readonly isSame?: boolean
}

/** Asks the questions of docs/queries.md of `cairn sql`, and of DuckDB on the files of `cairn export`.
 *  @throws Error where an answer has another number of rows, or a question has no statement for DuckDB */
export async function measureQuestions(run: LogsRun) {
  const [datadir, lake] = [join(run.directory, 'questions'), join(run.directory, 'questionLake')]
  const chain = await makeQuestionChain(datadir, run.values['question-blocks'], run.values.seed)
  let exportSeconds = 0
  for (const name of DATASETS) exportSeconds += (await exportDataset(datadir, lake, name)).seconds
  const session = createDatabaseSession(datadir)
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    for (const name of DATASETS.map((each) => each.replaceAll('-', '_'))) {
      await connection.run(`CREATE VIEW ${name} AS SELECT * FROM read_parquet('${lake}/*__${name}__*.parquet')`)
    }
    const ask = async (sql: string) => {
      const rows: unknown[][] = []
      for await (const { values } of session.run(sql)) rows.push(...(values as unknown[][]))
      return rows
    }
    const askDuckDb = async (sql: string): Promise<unknown[][]> => (await connection.runAndReadAll(sql)).getRowsJson()
    const others = duckDbStatements(chain)
    const runs = Math.min(run.values.runs, MOST_RUNS)
    const questions: QuestionFigures[] = []
    for (const [question, sql] of readStatements(chain)) {
      if (!(question in others)) throw new Error(`${question}: there is no statement for DuckDB`)
      const [own, cairnMs] = await timed(() => ask(sql), runs)
      const other = others[question]
      const figures = { question, rows: own.length, cairnMs }
      if (other === undefined) {
        questions.push(figures)
        continue
      }
      const [found, duckDbMs] = await timed(() => askDuckDb(other), runs)
      if (found.length !== own.length) throw new Error(`${question}: ${own.length} rows, and ${found.length} in DuckDB`)
      questions.push({
        ...figures,
        duckDbMs,
        ratio: cairnMs / duckDbMs,
        isSame: areSameRows(sorted(own), sorted(found)),
      })
    }
    return { blocks: chain.blocks, transactions: chain.transactions, exportSeconds, questions }
  } finally {
    session.close()
    connection.closeSync()
    instance.closeSync()
  }
}

/** Prints a row a question. */
export function printQuestions({ questions, ...chain }: Awaited<ReturnType<typeof measureQuestions>>): void {
  console.log(JSON.stringify(chain))
  const rows = questions.map((each) => [
    ...[each.question, each.rows, each.cairnMs, each.duckDbMs, each.ratio],
    each.isSame === undefined ? '' : each.isSame ? 'same' : 'as many rows',
  ])
  printTable(['question', 'rows', 'Cairn, ms', 'DuckDB, ms', 'ratio', 'answers'], rows)
}

async function timed<T>(ask: () => Promise<T>, runs: number): Promise<[answer: T, medianMs: number]> {
  const taken: number[] = []
  let answer: T
  do {
    const startedMs = performance.now()
    answer = await ask()
    taken.push(performance.now() - startedMs)
  } while (taken.length < runs)
  return [answer, quantile(taken, 0.5)]
}

/** The statements of the page, with addresses of the chain. */
function readStatements({
  token,
  collection,
  pair,
  holder,
  deployer,
}: QuestionChain): [heading: string, sql: string][] {
  const page = readFileSync(packagePath('docs/queries.md'), 'utf8')
  const addresses: { readonly [onPage: string]: string } = {
    '0xed01f80b3b7f874af79e90e91e4ccca7fce24344': token,
    '0x920ea1b70a9d375eb674b11f20ee1cee7677b0af': collection,
    '0xb4e16d0168e52d35cacd2c6185b44281ec28c9dc': pair,
    '0x221bb027774bab0df7af52d570f14821a7402cba': holder,
  }
  return page.split(/^## /m).flatMap((section) => {
    const [heading] = section.split('\n')
    const statement = /^```sql\n([\s\S]*?);?\s*^```/m.exec(section)?.[1]
    const use = (address: string) => addresses[address] ?? (heading === 'Contracts of a deployer' ? deployer : holder)
    return statement === undefined ? [] : [[heading, statement.replaceAll(/0x[0-9a-f]{40}/g, use)]]
  })
}

/** Returns the rows in an order of their own: not all statements name one. */
function sorted(rows: readonly unknown[][]): unknown[][] {
  return [...rows].sort((a, b) => (String(a) < String(b) ? -1 : 1))
}
