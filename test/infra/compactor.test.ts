import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Template } from 'aws-cdk-lib/assertions';
import * as z from 'zod';
import { MAX_RECEIVES } from '../../lib/settings/defaults.ts';
import { functionOf, onlyResource, resourcesOf, stackTemplate } from './support.ts';

const queueSchema = z.looseObject({
  VisibilityTimeout: z.number(),
  SqsManagedSseEnabled: z.literal(true),
  RedrivePolicy: z.object({
    deadLetterTargetArn: z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Arn')]) }),
    maxReceiveCount: z.number(),
  }),
});
const mappingSchema = z.looseObject({
  BatchSize: z.number(),
  FunctionResponseTypes: z.array(z.string()),
  ScalingConfig: z.object({ MaximumConcurrency: z.number() }),
});

/** The queue with the redrive policy, that with none, and the mapping between queue and compactor. */
function wiring(template: Template) {
  const queues = resourcesOf(template, 'AWS::SQS::Queue');
  const main = [...queues.values()].find(({ Properties }) => 'RedrivePolicy' in Properties);
  const queue = queueSchema.parse(main?.Properties);
  const deadLetters = queues.get(queue.RedrivePolicy.deadLetterTargetArn['Fn::GetAtt'][0]);
  const mapping = mappingSchema.parse(onlyResource(template, 'AWS::Lambda::EventSourceMapping').Properties);
  return { queue, deadLetters, mapping, compactor: functionOf(template, 'compactor') };
}

describe('compaction queue', () => {
  const { queue, deadLetters, mapping, compactor } = wiring(stackTemplate());

  it('hides a message for six times the compactor timeout, which holds the model budget of 120 s', () => {
    assert.ok(compactor.Timeout > 120);
    assert.ok(queue.VisibilityTimeout >= 6 * compactor.Timeout);
  });

  it('gives up at the receive that the compactor takes for the last', () => {
    assert.equal(queue.RedrivePolicy.maxReceiveCount, MAX_RECEIVES);
  });

  it('gives up after at least five receives and keeps what failed for 14 days, encrypted', () => {
    assert.ok(queue.RedrivePolicy.maxReceiveCount >= 5);
    assert.equal(deadLetters?.Properties.MessageRetentionPeriod, 14 * 24 * 3600);
    assert.equal(deadLetters?.Properties.SqsManagedSseEnabled, true);
  });

  it('refuses plain HTTP on both queues', () => {
    const template = stackTemplate();
    template.resourceCountIs('AWS::SQS::QueuePolicy', 2);
    template.allResourcesProperties('AWS::SQS::QueuePolicy', {
      PolicyDocument: {
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Deny',
            Action: 'sqs:*',
            Principal: { AWS: '*' },
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          },
        ],
      },
    });
  });

  it('hands over one message at a time and takes back only what failed', () => {
    assert.equal(mapping.BatchSize, 1);
    assert.deepEqual(mapping.FunctionResponseTypes, ['ReportBatchItemFailures']);
  });
});

describe('compactor concurrency', () => {
  it('is two unless chosen', () => {
    assert.equal(wiring(stackTemplate()).compactor.ReservedConcurrentExecutions, 2);
  });

  for (const compactorConcurrency of [2, 7, 1000]) {
    it(`${compactorConcurrency}: the mapping never polls for more than is reserved`, () => {
      const { compactor, mapping } = wiring(stackTemplate({ compactorConcurrency }));
      assert.equal(compactor.ReservedConcurrentExecutions, compactorConcurrency);
      assert.equal(mapping.ScalingConfig.MaximumConcurrency, compactorConcurrency);
    });
  }

  it('1: the mapping stays at its minimum of 2 and throttled polls do not dead-letter a message', () => {
    const { compactor, mapping, queue } = wiring(stackTemplate({ compactorConcurrency: 1 }));
    assert.equal(compactor.ReservedConcurrentExecutions, 1);
    assert.equal(mapping.ScalingConfig.MaximumConcurrency, 2);
    assert.ok(queue.RedrivePolicy.maxReceiveCount > 5);
  });

  it('leaves the account alone when it may not reserve any', () => {
    const { compactor, mapping } = wiring(
      stackTemplate({ reserveConcurrency: false, compactorConcurrency: 3 }),
    );
    assert.equal(compactor.ReservedConcurrentExecutions, undefined);
    assert.equal(mapping.ScalingConfig.MaximumConcurrency, 3);
  });
});
