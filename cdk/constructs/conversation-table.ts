import { RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import { type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';

/** Item-level actions; a transaction is authorized by the actions of its items. Nothing deletes an item but its expiry. */
export type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'ConditionCheckItem'
  | 'PutItem'
  | 'UpdateItem'
  | 'BatchWriteItem';

export type ConversationTableProps = {
  /** Keep the data when the stack goes away, and refuse to delete the table. */
  readonly protect: boolean;
};

/** The one table of conversations, settings, usage and audit, with the sparse index that the scanner reads. */
export class ConversationTable extends Construct {
  static readonly PRESSURE_INDEX = 'pressure';
  readonly table: dynamodb.Table;

  constructor(scope: Construct, id: string, props: ConversationTableProps) {
    super(scope, id);
    this.table = new dynamodb.Table(this, 'Table', {
      partitionKey: { name: 'PK', type: dynamodb.AttributeType.STRING },
      sortKey: { name: 'SK', type: dynamodb.AttributeType.STRING },
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: 'expiresAt',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: props.protect,
      removalPolicy: props.protect ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    this.table.addGlobalSecondaryIndex({
      indexName: ConversationTable.PRESSURE_INDEX,
      partitionKey: { name: 'pressurePk', type: dynamodb.AttributeType.STRING },
      sortKey: { name: 'pressureSk', type: dynamodb.AttributeType.NUMBER },
      projectionType: dynamodb.ProjectionType.INCLUDE,
      // What a scan decides on, so that it reads nothing else until it claims.
      nonKeyAttributes: ['channelId', 'userId', 'activeAt', 'modelKey', 'threshold', 'tokens', 'messages'],
    });
  }

  /** Lets `grantee` do `actions` on the table's items. */
  grant(grantee: IGrantable, actions: readonly TableAction[]): void {
    grantee.grantPrincipal.addToPrincipalPolicy(statement(actions, this.table.tableArn));
  }

  /** Lets `grantee` query the pressure index. */
  grantPressure(grantee: IGrantable): void {
    const index = `${this.table.tableArn}/index/${ConversationTable.PRESSURE_INDEX}`;
    grantee.grantPrincipal.addToPrincipalPolicy(statement(['Query'], index));
  }
}

function statement(actions: readonly TableAction[], resource: string): PolicyStatement {
  return new PolicyStatement({
    actions: actions.map((action) => `dynamodb:${action}`),
    resources: [resource],
  });
}
