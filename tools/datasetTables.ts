import { readFileSync } from 'node:fs'
import type { Column } from '../src/export/columns.js'
import type { Dataset } from '../src/export/dataset.js'
import { DATASETS } from '../src/export/datasets.js'
import { packagePath } from '../src/store/open.js'

const [BEGIN, END] = ['<!-- datasets: made by npm run docs -->', '<!-- end of datasets -->']

/** docs/export.md with the tables of the datasets. */
export function formatExportPage(): string {
  const page = readFileSync(packagePath('docs/export.md'), 'utf8')
  const [before, rest] = page.split(BEGIN)
  return [before, BEGIN, '\n\n', DATASETS.map(formatDataset).join('\n'), '\n', END, rest.split(END)[1]].join('')
}

function formatDataset({ name, fileName, summary, columns }: Dataset): string {
  const lines = byType(columns).map(([type, names]) => `| ${type} | ${names.map((each) => `\`${each}\``).join(', ')} |`)
  return [
    `### ${name}`,
    '',
    `${summary} Files: \`…__${fileName}__…\`.`,
    '',
    '| type | columns |',
    '|---|---|',
    ...lines,
    '',
  ].join('\n')
}

/** Types with their columns, each in the order of the first column. */
function byType(columns: readonly Column[]): [type: string, names: string[]][] {
  const types = new Map<string, string[]>()
  for (const { name, type, nullable } of columns) {
    const words = nullable ? `${type}, nullable` : type
    types.set(words, [...(types.get(words) ?? []), name])
  }
  return [...types]
}
