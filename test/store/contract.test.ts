import { describe, it } from 'node:test';
import {
  type Engine,
  givenEngine,
  startDynamoDbLocal,
  startEngine,
  startStore,
  storeOn,
  type TestStore,
} from '../support/dynamo.ts';
import { MemoryTable } from '../support/memory-table.ts';
import { badInputContract } from './contract/bad-input.ts';
import { compactionContract } from './contract/compaction.ts';
import { conversationContract } from './contract/conversation.ts';
import { tablesContract } from './contract/tables.ts';
import { treeContract } from './contract/tree.ts';

/** One contract for every engine; where one is not installed, that is said and the others count. */
function contract(engine: string, start: () => Promise<TestStore | undefined>, manyChildren = 300): void {
  describe(`the store on ${engine}`, async () => {
    const store = await start();
    if (store === undefined) {
      it('is not here', { skip: true }, () => undefined);
      return;
    }
    const get = (): TestStore => store;
    conversationContract(get);
    treeContract(get);
    compactionContract(get);
    tablesContract(get);
    badInputContract(get, manyChildren);
  });
}

const onEngine = async (engine: Engine | undefined): Promise<TestStore | undefined> =>
  engine === undefined ? undefined : startStore(engine);

contract('dynoxide', async () => onEngine(await startEngine()), 1_500);
contract('the table in memory', async () => storeOn(new MemoryTable().client(), 'memory'), 10_000);
contract('DynamoDB Local', async () => onEngine(await startDynamoDbLocal()));
contract('the endpoint in STORE_ENDPOINT', async () => onEngine(givenEngine()));
