"""A small file in each format of terminologies."""

from __future__ import annotations

MESH = """<?xml version="1.0"?>
<!DOCTYPE DescriptorRecordSet SYSTEM "https://www.nlm.nih.gov/databases/dtd/nlmdescriptorrecordset_20260101.dtd">
<DescriptorRecordSet LanguageCode="eng">
<DescriptorRecord DescriptorClass="1">
 <DescriptorUI>D006331</DescriptorUI><DescriptorName><String>Heart Diseases</String></DescriptorName>
 <TreeNumberList><TreeNumber>C14.280</TreeNumber></TreeNumberList>
 <ConceptList><Concept PreferredConceptYN="Y"><TermList>
  <Term><String>Heart Diseases</String></Term><Term><String>Cardiac Diseases</String></Term>\
</TermList></Concept></ConceptList>
</DescriptorRecord>
<DescriptorRecord DescriptorClass="1">
 <DescriptorUI>D009203</DescriptorUI><DescriptorName><String>Myocardial Infarction</String></DescriptorName>
 <TreeNumberList><TreeNumber>C14.280.647</TreeNumber></TreeNumberList>
 <ConceptList><Concept PreferredConceptYN="Y"><TermList><Term><String>Myocardial Infarction</String></Term>
  <Term><String>Heart Attack</String></Term></TermList></Concept>
  <Concept PreferredConceptYN="N"><TermList>\
<Term><String>Cardiovascular Stroke</String></Term></TermList></Concept></ConceptList>
</DescriptorRecord>
</DescriptorRecordSet>
"""

ICD10CM = """<?xml version="1.0" encoding="utf-8"?>
<ICD10CM.tabular><version>2021</version>
<chapter><name>9</name><desc>Diseases of the circulatory system</desc>
<section id="I20-I25"><desc>Ischemic heart diseases</desc>
 <diag><name>I21</name><desc>Acute myocardial infarction</desc>
  <inclusionTerm><note>cardiac infarction</note><note>coronary (artery) embolism</note></inclusionTerm>
  <diag><name>I21.9</name><desc>Acute myocardial infarction, unspecified</desc></diag></diag>
</section>
<section id="I26"><desc>Pulmonary embolism</desc><diag><name>I26</name><desc>Pulmonary embolism</desc></diag></section>
</chapter></ICD10CM.tabular>
"""

ICD11 = (
    "Foundation URI\tLinearization URI\tCode\tBlockId\tTitle\tClassKind\n"
    "\thttp://id.who.int/icd/release/11/mms/1\t\t\tDiseases of the circulatory system\tchapter\n"
    "http://id.who.int/icd/entity/2\thttp://id.who.int/icd/release/11/mms/2"
    "\t\tBlockL1-BA4\t- Ischaemic heart diseases\tblock\n"
    "http://id.who.int/icd/entity/3\thttp://id.who.int/icd/release/11/mms/3"
    "\tBA41\t\t- - Acute myocardial infarction\tcategory\n"
    "http://id.who.int/icd/entity/4\thttp://id.who.int/icd/release/11/mms/4"
    "\tBA42\t\t- - Subsequent myocardial infarction\tcategory\n"
)

ICD11_SYNONYMS = {"BA41": ["heart attack"], "http://id.who.int/icd/entity/4": [{"label": {"@value": "second infarct"}}]}

MEDDRA = {
    "soc.asc": "10007541$Cardiac disorders$Card$\n",
    "pt.asc": "10028596$Myocardial infarction$$10007541$\n10002383$Angina pectoris$$10007541$\n",
    "llt.asc": (
        "10019250$Heart attack$10028596$$$$$$$Y$\n10028596$Myocardial infarction$10028596$$$$$$$Y$\n"
        "10000001$Old name$10028596$$$$$$$N$\n"
    ),
    "hlt.asc": "10028600$Ischaemic coronary artery disorders$\n",
    "hlt_pt.asc": "10028600$10028596$\n10028600$10002383$\n",
}

TSV = {
    "concepts.tsv": "id\tname\nA\tHeart disease\nB\tMyocardial infarction\n",
    "synonyms.tsv": 'id\tsynonym\tscope\nB\tHeart attack\tEXACT\nB\t5" scar\tNARROW\nZ\tnobody\tEXACT\n',
    "is_a.tsv": "child\tparent\nB\tA\nB\tZ\n",
}

TABLE = "id\tname\tsynonym\tparent\nA\tHeart disease\t\t\nB\tMyocardial infarction\tHeart attack\tA\n"

OBO_GRAPHS = {
    "graphs": [
        {
            "nodes": [
                {"id": "http://purl.obolibrary.org/obo/HP_0001", "lbl": "Heart disease", "type": "CLASS"},
                {
                    "id": "http://purl.obolibrary.org/obo/HP_0002",
                    "lbl": "Myocardial infarction",
                    "type": "CLASS",
                    "meta": {
                        "synonyms": [
                            {"pred": "hasExactSynonym", "val": "Heart attack"},
                            {"pred": "hasNarrowSynonym", "val": "STEMI"},
                        ]
                    },
                },
                {"id": "http://purl.obolibrary.org/obo/HP_0003", "lbl": "gone", "meta": {"deprecated": True}},
                {"id": "http://purl.obolibrary.org/obo/BFO_0000050", "lbl": "part of", "type": "PROPERTY"},
            ],
            "edges": [
                {
                    "sub": "http://purl.obolibrary.org/obo/HP_0002",
                    "pred": "is_a",
                    "obj": "http://purl.obolibrary.org/obo/HP_0001",
                }
            ],
        }
    ]
}

_DESCRIPTION = "id\teffectiveTime\tactive\tmoduleId\tconceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId\n"

_FSN, _SYNONYM = "900000000000003001", "900000000000013009"

SNOMED = {
    "sct2_Concept_Snapshot_INT_20260101.txt": (
        "id\teffectiveTime\tactive\tmoduleId\tdefinitionStatusId\n"
        "56265001\t20020131\t1\t9\t9\n22298006\t20020131\t1\t9\t9\n99999999\t20020131\t0\t9\t9\n"
    ),
    "sct2_Description_Snapshot-en_INT_20260101.txt": _DESCRIPTION
    + f"1\t20020131\t1\t9\t56265001\ten\t{_FSN}\tHeart disease (disorder)\t9\n"
    + f"2\t20020131\t1\t9\t22298006\ten\t{_FSN}\tMyocardial infarction (disorder)\t9\n"
    + f"3\t20020131\t1\t9\t22298006\ten\t{_SYNONYM}\tHeart attack\t9\n"
    + f"4\t20020131\t1\t9\t22298006\ten\t{_SYNONYM}\tMyocardial infarction\t9\n"
    + f"5\t20020131\t0\t9\t22298006\ten\t{_SYNONYM}\tOld name\t9\n"
    + f"6\t20020131\t1\t9\t99999999\ten\t{_FSN}\tInactive (disorder)\t9\n",
    "der2_cRefset_LanguageSnapshot-en_INT_20260101.txt": (
        "id\teffectiveTime\tactive\tmoduleId\trefsetId\treferencedComponentId\tacceptabilityId\n"
        "a\t20020131\t1\t9\t900000000000509007\t3\t900000000000548007\n"
        "b\t20020131\t1\t9\t900000000000509007\t4\t900000000000549004\n"
    ),
    "sct2_Relationship_Snapshot_INT_20260101.txt": (
        "id\teffectiveTime\tactive\tmoduleId\tsourceId\tdestinationId\trelationshipGroup\ttypeId\n"
        "1\t20020131\t1\t9\t22298006\t56265001\t0\t116680003\n"
        "2\t20020131\t1\t9\t22298006\t56265001\t0\t363698007\n"
        "3\t20020131\t0\t9\t56265001\t22298006\t0\t116680003\n"
    ),
}

SKOS = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <https://example.org/> .
:heart a skos:Concept ; skos:prefLabel "Heart disease"@en , "Herzkrankheit"@de ; skos:narrower :infarction .
:infarction a skos:Concept ; skos:prefLabel "Myocardial infarction"@en ; skos:altLabel "Heart attack"@en ;\
 skos:hiddenLabel "hart attack" .
"""
